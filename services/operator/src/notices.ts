/** What this process has already told people about an object, so that a judgement that stays does not repeat itself. */
export class Notices {
  readonly #told = new Map<string, string>();

  wasTold(uid: string, words: string): boolean {
    return this.#told.get(uid) === words;
  }

  tell(uid: string, words: string): void {
    this.#told.set(uid, words);
  }

  forget(uid: string): void {
    this.#told.delete(uid);
  }
}
