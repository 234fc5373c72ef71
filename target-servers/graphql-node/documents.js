// Documents by their text, each parsed and validated once.
//
// Why: clients send the same few texts again and again, and validation costs several times what their execution does; so
// Apollo Server, GraphQL Yoga and Mercurius all keep them. graphql-ws leaves it to who uses it (its hook onSubscribe).
'use strict';
const { parse, validate } = require('graphql');

const MOST_DOCUMENTS = 1000;  // of clients that write their variables into the text there would be no end

class Documents {
  #schema;
  #known = new Map();

  constructor(schema) { this.#schema = schema; }

  /// The document; undefined if it has mistakes, which the library finds and tells by itself.
  of(text) {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    let document;
    try {
      document = parse(text);
    } catch {
      return undefined;
    }
    if (validate(this.#schema, document).length > 0) return undefined;
    if (this.#known.size >= MOST_DOCUMENTS) this.#known.delete(this.#known.keys().next().value);
    this.#known.set(text, document);
    return document;
  }
}

module.exports = { Documents };
