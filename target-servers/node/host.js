// What every Node target does the same way: its options, one port, the 404s, GET /stats, and its end.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const { parseArgs } = require('node:util');
const { PerformanceObserver, constants } = require('node:perf_hooks');

const BACKLOG = 16384;

const counts = { connections: 0, messagesIn: 0, messagesOut: 0 };
const gc = { minor: { count: 0, pause_ms: 0 }, major: { count: 0, pause_ms: 0 } };

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function options(name) {
  try {
    return parseArgs({
      options: {
        port: { type: 'string' },
        host: { type: 'string', default: '127.0.0.1' },
        deflate: { type: 'boolean', default: false },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        'client-ca': { type: 'string' },
      },
    }).values;
  } catch (error) {
    return fail(`${name}: ${error.message}`);
  }
}

function watchCollector() {
  const kinds = { [constants.NODE_PERFORMANCE_GC_MINOR]: gc.minor, [constants.NODE_PERFORMANCE_GC_MAJOR]: gc.major };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const kind = kinds[entry.detail.kind];
      if (kind === undefined) continue;
      kind.count += 1;
      kind.pause_ms += entry.duration;
    }
  }).observe({ entryTypes: ['gc'] });
}

// A connection counts from just before its 101 until its socket is gone.
function counted(socket) {
  counts.connections += 1;
  socket.once('close', () => { counts.connections -= 1; });
}

/// Counts what an open WebSocket of npm `ws` receives and hands over, whoever sends it.
function countMessages(webSocket) {
  webSocket.on('message', () => { counts.messagesIn += 1; });
  const send = webSocket.send;
  webSocket.send = function sendCounted(...given) {
    counts.messagesOut += 1;
    return send.apply(this, given);
  };
}

/// Microseconds of the wall clock.
const nowUs = () => Math.round((performance.timeOrigin + performance.now()) * 1000);

/// Serves WebSocket paths until SIGTERM. `paths`: by path, a function of (request, socket, head) that answers an
/// upgrade. `runtime`: what /stats calls the server; `version` of the framework.
function serve({ name, runtime, version, paths }) {
  const given = options(name);
  if (!/^\d{1,5}$/.test(given.port ?? '') || Number(given.port) > 65535) fail(`${name}: say --port N, 0 for any free one`);
  watchCollector();

  const answer = (request, response) => {
    if (request.method === 'GET' && request.url === '/stats') {
      const { connections, messagesIn, messagesOut } = counts;
      response.setHeader('Content-Type', 'application/json');
      response.end(`${JSON.stringify({ pid: process.pid, runtime, version, node: process.versions.node, connections,
        messages_in: messagesIn, messages_out: messagesOut, gc })}\n`);
      return;
    }
    response.statusCode = 404;
    response.end();
  };
  let server;
  if (given['tls-cert'] !== undefined) {
    const read = (key) => given[key] === undefined ? undefined : fs.readFileSync(given[key]);
    const ca = read('client-ca');
    server = https.createServer({ cert: read('tls-cert'), key: read('tls-key'), ca, requestCert: ca !== undefined,
      rejectUnauthorized: ca !== undefined }, answer);
  } else {
    server = http.createServer(answer);
  }
  server.on('upgrade', (request, socket, head) => {
    const open = paths(given)[request.url.split('?', 1)[0]];
    socket.on('error', () => socket.destroy());
    if (open === undefined) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    counted(socket);
    open(request, socket, head);
  });
  server.on('error', (error) => {
    fail(error.code === 'EADDRINUSE' ? `${name}: port ${given.port} is taken` : `${name}: ${error.message}`);
  });
  process.on('SIGTERM', () => process.exit(0));
  server.listen({ port: Number(given.port), host: given.host, backlog: BACKLOG }, () => {
    process.stdout.write(`listening on ${server.address().port}\n`);
  });
}

module.exports = { serve, countMessages, nowUs };
