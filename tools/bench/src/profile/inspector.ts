import * as z from 'zod';

const responseShape = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

/** For `NODE_OPTIONS`: the process prints the URL of its inspector to stderr. */
export const inspectorOption = '--inspect=127.0.0.1:0';

/** URL of the inspector in the output of a process. @throws Error without one. */
export function inspectorUrlIn(log: readonly string[]): string {
  const url = log
    .map((line) => /Debugger listening on (ws:\/\/\S+)/.exec(line)?.[1])
    .find((each) => each !== undefined);
  if (url !== undefined) return url;
  throw new Error(
    'expected "Debugger listening on ws://…" in the output of the operator; only Node programs can be profiled',
  );
}

/** A session with the inspector of a Node process. */
export class Inspector implements Disposable {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #listeners = new Map<string, (params: unknown) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => this.#end());
  }

  static async connect(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener('error', () => reject(new Error(`no inspector answers at ${url}`)), { once: true });
    });
    return new Inspector(socket);
  }

  send(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    if (this.#socket.readyState !== WebSocket.OPEN)
      return Promise.reject(new Error('the inspector closed the connection: its process has ended'));
    this.#lastId += 1;
    const response = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#lastId, response);
    this.#socket.send(JSON.stringify({ id: this.#lastId, method, params }));
    return response.promise;
  }

  /** Sets the listener of an event; a later one replaces it. */
  on(event: string, listener: (params: unknown) => void): void {
    this.#listeners.set(event, listener);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #receive(text: string): void {
    const { id, method = '', params, result, error } = responseShape.parse(JSON.parse(text));
    if (id === undefined) return this.#listeners.get(method)?.(params);
    const response = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) response?.resolve(result);
    else response?.reject(new Error(`the inspector answers: ${error.message}`));
  }

  #end(): void {
    for (const { reject } of this.#waiting.values())
      reject(new Error('the inspector closed the connection before it answered'));
    this.#waiting.clear();
  }
}
