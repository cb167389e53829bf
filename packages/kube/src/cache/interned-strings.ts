/** Longer strings seldom repeat and are slow to compare. */
const longest = 200;

/**
 * Interns equal strings. Values that every server repeats (models, messages, reasons, MIME types) are in memory once;
 * unique values pass through: only the strings of the last two generations are kept.
 */
export class InternedStrings {
  readonly #generationSize: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(generationSize = 8_192) {
    this.#generationSize = generationSize;
  }

  /** Number of strings kept. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  intern(text: string): string {
    if (text.length > longest) return text;
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const known = this.#old.get(text) ?? text;
    this.#young.set(known, known);
    if (this.#young.size >= this.#generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    return known;
  }
}
