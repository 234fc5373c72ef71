// The one schema that both subprotocols serve.
'use strict';
const { buildSchema } = require('graphql');
const { nowUs } = require('./host.js');
const { Topics } = require('./topics.js');

const schema = buildSchema(`
  type Message { id: String! sentUs: Float! }
  type Broadcast { seq: Int! batchUs: Float! sentUs: Float! pad: String! }

  type Query { time: Float! }
  type Mutation {
    publish(channel: String!, id: String!, sentUs: Float!): Boolean!
    "Gives the number of this broadcast. bytes: how long the pad of each copy is."
    broadcast(bytes: Int): Int!
  }
  type Subscription {
    message(channel: String!): Message!
    broadcast: Broadcast!
  }
`);

const channels = new Topics();
const broadcasts = new Topics();
let sequence = 0;

schema.getQueryType().getFields().time.resolve = nowUs;

const mutations = schema.getMutationType().getFields();
mutations.publish.resolve = (_, { channel, id, sentUs }) => {
  channels.publish(channel, { message: { id, sentUs } });
  return true;
};
mutations.broadcast.resolve = (_, { bytes }) => {
  sequence += 1;
  broadcasts.publish('', { broadcast: { seq: sequence, batchUs: nowUs(), pad: 'x'.repeat(Math.max(0, bytes ?? 0)) } });
  return sequence;
};

const subscriptions = schema.getSubscriptionType().getFields();
subscriptions.message.subscribe = (_, { channel }) => channels.subscribe(channel);
subscriptions.broadcast.subscribe = () => broadcasts.subscribe('');
// A copy's own time is read while it is made for its recipient.
schema.getType('Broadcast').getFields().sentUs.resolve = nowUs;

module.exports = { schema };
