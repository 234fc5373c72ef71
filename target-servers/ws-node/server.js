// The contract's paths on npm `ws`.
'use strict';
const { EventEmitter } = require('node:events');
const { WebSocketServer, WebSocket } = require('ws');
const { serve, countMessages, nowUs } = require('./host.js');

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

function echo(connection) {
  connection.on('message', (data, isBinary) => connection.send(data, { binary: isBinary }));
}

// Each recipient's message says when it was handed over, so each is a text of its own.
class Broadcasts {
  #sequence = 0;

  constructor(members) { this.members = members; }

  join(connection) {
    connection.on('message', (data, isBinary) => {
      const asked = isBinary ? null : /^broadcast(?: (\d+))?$/.exec(data.toString('latin1'));
      if (asked !== null) this.send(Math.min(Number(asked[1] ?? 0), MAX_MESSAGE_BYTES));
    });
  }

  send(bytes) {
    this.#sequence += 1;
    const batchUs = nowUs();
    const begin = `{"seq":${this.#sequence},"batch_us":${batchUs},"sent_us":`;
    const rest = (length) => `,"pad":"${'x'.repeat(Math.max(0, length))}"}`;
    // The clock's figures have the same length for the next 260 years.
    const end = rest(bytes - begin.length - `${batchUs}`.length - rest(0).length);
    for (const member of this.members)
      if (member.readyState === WebSocket.OPEN) member.send(`${begin}${nowUs()}${end}`);
  }
}

// Node's own publish path: an emitter, with a topic for each connection.
class Topics {
  #emitter = new EventEmitter();
  #created = 0;

  join(connection) {
    const topic = `topic-${this.#created += 1}`;
    const deliver = (text) => connection.send(text, { binary: false });
    this.#emitter.on(topic, deliver);
    connection.once('close', () => this.#emitter.off(topic, deliver));
    connection.on('message', (data, isBinary) => {
      if (!isBinary) this.#emitter.emit(topic, data);
    });
  }
}

function pathsOf({ deflate }) {
  const path = (join, members) => {
    const server = new WebSocketServer({ noServer: true, clientTracking: members, maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: deflate });
    const joined = join(server);
    server.on('connection', (connection) => {
      connection.on('error', () => {});  // told to the peer by its close code
      countMessages(connection);
      joined(connection);
    });
    return (request, socket, head) => server.handleUpgrade(request, socket, head, (connection) => {
      server.emit('connection', connection, request);
    });
  };
  const topics = new Topics();
  return {
    '/echo': path(() => echo, false),
    '/broadcast': path((server) => {
      const broadcasts = new Broadcasts(server.clients);
      return (connection) => broadcasts.join(connection);
    }, true),
    '/publish': path(() => (connection) => topics.join(connection), false),
  };
}

let paths;
serve({
  name: 'ws-node',
  runtime: 'Node.js, ws',
  version: require('ws/package.json').version,
  paths: (given) => (paths ??= pathsOf(given)),
});
