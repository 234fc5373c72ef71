// Publish and subscribe for the schema: what is published to a topic goes to whoever subscribed before.
//
// Why not a PubSub of npm: those subscribe when the first event is asked for, some turns after the operation began, so
// what a client publishes right after its `subscribe` message would be lost. Here a subscription begins in its resolver.
'use strict';

class Subscription {
  #topic;
  #queue = [];
  #waiting = null;
  #ended = false;

  constructor(topic, onEnd) {
    this.#topic = topic;
    this.onEnd = onEnd;
  }

  deliver(event) {
    if (this.#waiting === null) return void this.#queue.push(event);
    const resolve = this.#waiting;
    this.#waiting = null;
    resolve({ value: event, done: false });
  }

  next() {
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    if (this.#queue.length > 0) return Promise.resolve({ value: this.#queue.shift(), done: false });
    return new Promise((resolve) => { this.#waiting = resolve; });
  }

  return() {
    if (!this.#ended) {
      this.#ended = true;
      this.onEnd(this.#topic, this);
      this.#waiting?.({ value: undefined, done: true });
    }
    return Promise.resolve({ value: undefined, done: true });
  }

  throw(error) {
    void this.return();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator]() { return this; }
}

class Topics {
  #subscriptions = new Map();

  subscribe(topic) {
    const subscription = new Subscription(topic, (name, ended) => this.#remove(name, ended));
    const others = this.#subscriptions.get(topic);
    if (others === undefined) this.#subscriptions.set(topic, new Set([subscription]));
    else others.add(subscription);
    return subscription;
  }

  publish(topic, event) {
    for (const subscription of this.#subscriptions.get(topic) ?? []) subscription.deliver(event);
  }

  #remove(topic, subscription) {
    const others = this.#subscriptions.get(topic);
    others.delete(subscription);
    if (others.size === 0) this.#subscriptions.delete(topic);
  }
}

module.exports = { Topics };
