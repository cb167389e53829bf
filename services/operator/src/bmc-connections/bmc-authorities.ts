/** So many texts of two generations are remembered. A site has a few; of more, those that were asked for last. */
const generationSize = 128;

/**
 * The certificate authorities that BMCs are trusted for: those of the operator, and what a BMC names besides. Equal bundles
 * give one string: it is compared at every look, which is free for one and the same, and kept for every server.
 */
export class BmcAuthorities {
  readonly #common: string | undefined;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  /** PEM text for all of them; undefined: there is none. */
  constructor(common: string | undefined) {
    this.#common = common;
  }

  /** How many texts are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** PEM text; undefined: Node's own authorities count. */
  with(caBundle: string | undefined): string | undefined {
    if (caBundle === undefined || this.#common === undefined) return nonEmpty(caBundle ?? this.#common);
    const young = this.#young.get(caBundle);
    if (young !== undefined) return young;
    const joined = this.#old.get(caBundle) ?? [this.#common, caBundle].join('\n');
    this.#young.set(caBundle, joined);
    if (this.#young.size >= generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    return joined;
  }
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
