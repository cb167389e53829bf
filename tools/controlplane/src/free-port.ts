import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range that the kernel hands out by itself: nobody's outgoing connection takes the port while it is not bound.
const [first, end] = [20_000, 32_000];
const attempts = 50;

/** A TCP port of the loopback interface that was free a moment ago. Whoever binds it must be ready to try another. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(first, end);
    if (await isFree(port)) return port;
  }
  throw new Error(`of ${attempts} ports between ${first} and ${end} that were tried, none is free`);
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
