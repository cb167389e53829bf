import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ephemeral port range, so that no outgoing connection takes the port before it is bound.
const [first, end] = [20_000, 32_000];
const attempts = 50;

/** A TCP port of the loopback interface that was free a moment ago. The caller must retry if it is taken. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(first, end);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${attempts} tried ports between ${first} and ${end} is free`);
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
