/** Longer ones are seldom said twice, and dear to compare. */
const longest = 200;

/**
 * Gives equal strings one place in memory. What is said of every server (models, messages, reasons, MIME types) is there
 * once; what is said once passes through: of the strings it has met, it remembers those of the last two generations.
 */
export class InternedStrings {
  readonly #generationSize: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(generationSize = 8_192) {
    this.#generationSize = generationSize;
  }

  /** How many strings are remembered. */
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
