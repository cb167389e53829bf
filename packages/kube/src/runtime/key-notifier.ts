/** Notifies listeners of keys that changed. Listeners must not throw. */
export class KeyNotifier {
  readonly #listeners = new Set<(name: string) => void>();

  on(listener: (name: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  emit(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }
}
