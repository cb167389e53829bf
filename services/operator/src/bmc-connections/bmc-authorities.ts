/** Size of each of the two generations of the cache. A site has a few bundles; of more, the last used ones are kept. */
const generationSize = 128;

/**
 * The certificate authorities for connections to BMCs: those of the operator and those of the BMC. Equal bundles give the same
 * string, which is kept for every server: comparing it in every reconcile costs nothing.
 */
export class BmcAuthorities {
  readonly #common: string | undefined;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  /** `common`: PEM text of the operator's authorities; undefined: none. */
  constructor(common: string | undefined) {
    this.#common = common;
  }

  /** Number of cached texts. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** PEM text; undefined: the default authorities of Node. */
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
