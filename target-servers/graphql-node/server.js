// GraphQL over WebSocket: /graphql over graphql-transport-ws (npm graphql-ws) and over the legacy subprotocol graphql-ws
// (npm subscriptions-transport-ws), one schema.
'use strict';
const { execute, subscribe } = require('graphql');
const { GRAPHQL_TRANSPORT_WS_PROTOCOL } = require('graphql-ws');
const { useServer } = require('graphql-ws/use/ws');
const { SubscriptionServer, GRAPHQL_WS } = require('subscriptions-transport-ws');
const { WebSocketServer } = require('ws');
const { Documents } = require('./documents.js');
const { serve, countMessages } = require('./host.js');
const { schema } = require('./schema.js');

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

// A mutation is answered by three messages on its connection, made in the microtasks behind its own. They leave with one
// write, once those have run, as Node's documentation of writable.cork() has it.
function answerAtOnce(webSocket, { socket }) {
  const uncork = () => socket.uncork();
  webSocket.on('message', () => {
    socket.cork();
    queueMicrotask(() => process.nextTick(uncork));
  });
}

function serversOf({ deflate }) {
  const settings = { noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: deflate, clientTracking: false };
  const modern = new WebSocketServer(settings);
  modern.on('connection', countMessages);  // before the library listens, so that its own messages count
  modern.on('connection', answerAtOnce);
  const documents = new Documents(schema);
  const onSubscribe = (_, id, { query, operationName, variables }) => {
    const document = documents.of(query);
    return document && { schema, document, operationName, variableValues: variables };
  };
  useServer({ schema, onSubscribe }, modern, 0);  // no heartbeat
  // The library brings its own older ws, whose servers it asks for.
  const legacy = SubscriptionServer.create({ schema, execute, subscribe }, settings).server;
  legacy.prependListener('connection', countMessages);
  return { modern, legacy };
}

const offered = (request) =>
  (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());

// Who offers both gets the modern one, as graphql-ws recommends; who offers neither is closed with 4406 by it.
function open({ modern, legacy }, request, socket, head) {
  const names = offered(request);
  const server = names.includes(GRAPHQL_WS) && !names.includes(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? legacy : modern;
  server.handleUpgrade(request, socket, head, (connection) => {
    connection.on('error', () => {});  // told to the peer by its close code
    server.emit('connection', connection, request);
  });
}

let paths;
serve({
  name: 'graphql-node',
  runtime: 'Node.js, graphql-ws',
  version: require('graphql-ws/package.json').version,
  paths: (given) => {
    if (paths === undefined) {
      const servers = serversOf(given);
      paths = { '/graphql': (request, socket, head) => open(servers, request, socket, head) };
    }
    return paths;
  },
});
