/** What this process has already told people about an object, so that a judgement that stays does not repeat itself. */
export class ReportedWarnings {
  readonly #messages = new Map<string, string>();

  wasReported(uid: string, message: string): boolean {
    return this.#messages.get(uid) === message;
  }

  record(uid: string, message: string): void {
    this.#messages.set(uid, message);
  }

  forget(uid: string): void {
    this.#messages.delete(uid);
  }
}
