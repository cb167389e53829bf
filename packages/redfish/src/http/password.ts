import { inspect } from 'node:util';

export interface Credentials {
  readonly username: string;
  readonly password: Password;
}

/** A password that prints as `***` wherever it is logged, serialised or inspected. */
export class Password {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }
}
