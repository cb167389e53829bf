import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Cache } from '@metal/kube/cache/store.ts';

/** Longest message of a condition, names and other values of the case not counted. */
export const longestMessage = 160;

/** What a message takes over from its case, and whose length it does not choose. Each match counts as one character. */
const values: readonly RegExp[] = [
  /https?:\/\/[^\s;,"]+/g,
  /"[^"\s]*"/g,
  /\b([0-9a-f]{2}:){5,}[0-9a-f]{2}\b/gi,
  /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
  /\b[0-9a-f]{32,}\b/gi,
  /SHA256:[\w+/=]+/g,
  /\bapplication\/[\w.+-]+/g,
  /\/redfish\/[^\s;,)"]*/g,
  // A name that long is no word.
  /[^\s=]{40,}/g,
  // Numbers, times, addresses, and names with a number, such as those of servers.
  /(?<![\w.-])[\w./:-]*\d[\w./:-]*/g,
];

export const lengthOf = (message: string): number =>
  values.reduce((text, value) => text.replaceAll(value, '#'), message).length;

/** Condition messages that are longer than a person reads, as the watches deliver them; each kind and reason once. */
export class MessageLengths {
  readonly #tooLong = new Map<string, string>();

  watch(cache: Cache<KubeObject>): void {
    cache.onChange(({ after }) => after !== undefined && this.#check(after));
  }

  /** Throws if there were any, and prints them: the error of a story that fails otherwise hides this one. */
  verify(): void {
    if (this.#tooLong.size === 0) return;
    const text = `messages of more than ${longestMessage} characters without names and numbers:\n${[...this.#tooLong.values()].join('\n')}`;
    process.stderr.write(`${text}\n`);
    throw new Error(text);
  }

  #check(object: KubeObject): void {
    for (const { type, reason, message } of conditionsOf(object)) {
      const length = lengthOf(message);
      if (length <= longestMessage) continue;
      this.#tooLong.set(`${object.kind} ${type} ${reason}`, `${object.kind} ${type} ${reason}, ${length}: ${message}`);
    }
  }
}

/** All kinds of the product have conditions of the one shape, or none. */
function conditionsOf(object: KubeObject): readonly Condition[] {
  return (object as KubeObject & { status?: { conditions?: readonly Condition[] } }).status?.conditions ?? [];
}
