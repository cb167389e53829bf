import { readFile } from 'node:fs/promises';

/** Each BMC has a listening socket. */
const perBmc = 1;
/** Connections stay open for ten seconds after the last request; only a part of a large fleet is active at once. */
const connectionsPerBmc = 4;
const mostConnections = 8_000;
/** Basic files of a process, and connections to the API server. */
const others = 500;

/** Maximum number of open files and sockets of the fleet. */
export const openFilesFor = (servers: number): number =>
  servers * perBmc + Math.min(servers * connectionsPerBmc, mostConnections) + others;

/** Hard limit of open files of this process and its children: Node raises its soft limit to it. */
export async function mostOpenFiles(): Promise<number> {
  return limitIn(await readFile('/proc/self/limits', 'utf8'));
}

export function limitIn(limits: string): number {
  const [, most = ''] = /^Max open files +\S+ +(\S+)/m.exec(limits) ?? [];
  return most === 'unlimited' ? Infinity : Number(most);
}
