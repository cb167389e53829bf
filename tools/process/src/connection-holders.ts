import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** One end of a TCP connection over IPv4. */
export interface ConnectionEnd {
  readonly address: string;
  readonly port: number;
}

/** From the side of the client. */
export interface Connection {
  readonly from: ConnectionEnd;
  readonly to: ConnectionEnd;
}

/**
 * The process of each connection among the given ones; closed connections and those of other processes are omitted. Both ends
 * are compared, because connections of different processes to different addresses may share a local port.
 *
 * Reads the connection table of the kernel once, so pass many connections in one call.
 */
export function holdersOf<C extends Connection>(connections: Iterable<C>, pids: Iterable<number>): Map<C, number> {
  const bySocket = socketsOf(connections);
  const holders = new Map<C, number>();
  if (bySocket.size === 0) return holders;
  for (const pid of pids)
    for (const link of linksOf(pid)) {
      const connection = bySocket.get(link);
      if (connection !== undefined) holders.set(connection, pid);
    }
  return holders;
}

/** Length of `0100007F:1F90 0100007F:A3D2`. */
const endsLength = 27;
/** Index of the column, counted from the first end. */
const inodeColumn = 8;

/** By the link target of the descriptor, `socket:[12345]`. */
function socketsOf<C extends Connection>(connections: Iterable<C>): Map<string, C> {
  const wanted = new Map([...connections].map((each) => [`${inTable(each.from)} ${inTable(each.to)}`, each]));
  const found = new Map<string, C>();
  if (wanted.size === 0) return found;
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n')) {
    // Both ends follow the line number. Only matching lines are parsed, because there may be many thousands.
    const begin = line.indexOf(':') + 2;
    const connection = wanted.get(line.slice(begin, begin + endsLength));
    if (connection !== undefined) found.set(`socket:[${line.slice(begin).split(/ +/)[inodeColumn] ?? ''}]`, connection);
  }
  return found;
}

/** As in proc_net_tcp: the address in host byte order, the port in network byte order, both in base 16. */
function inTable({ address, port }: ConnectionEnd): string {
  const octets = Uint8Array.from(address.split('.').map(Number));
  const [number = 0] = octets.length === 4 ? new Uint32Array(octets.buffer) : [];
  return `${hexadecimal(number, 8)}:${hexadecimal(port, 4)}`;
}

const hexadecimal = (number: number, digits: number): string => number.toString(16).toUpperCase().padStart(digits, '0');

function linksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((descriptor) => linkOf(`/proc/${pid}/fd/${descriptor}`));
  } catch {
    // The process has ended.
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
