import { readFile } from 'node:fs/promises';

/** Each BMC listens on a socket of its own. */
const perBmc = 1;
/** Connections stay open for ten seconds after the last request; a large fleet is not worked on all at once. */
const connectionsPerBmc = 4;
const mostConnections = 8_000;
/** What a process has open anyhow, and connections to the API server. */
const others = 500;

/** How many files and sockets the fleet has open at most. */
export const openFilesFor = (servers: number): number =>
  servers * perBmc + Math.min(servers * connectionsPerBmc, mostConnections) + others;

/** How many this process, and what it starts, may open: Node raises its own limit as far as it may. */
export async function mostOpenFiles(): Promise<number> {
  return limitIn(await readFile('/proc/self/limits', 'utf8'));
}

export function limitIn(limits: string): number {
  const [, most = ''] = /^Max open files +\S+ +(\S+)/m.exec(limits) ?? [];
  return most === 'unlimited' ? Infinity : Number(most);
}
