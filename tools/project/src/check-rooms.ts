import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { importsIn } from './code-text.ts';
import { sourceFiles } from './source-files.ts';

/** An import that goes through a wall. */
export interface Breach {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export type Rooms = Readonly<Record<string, readonly string[]>>;

/** Rooms inside the operator: they meet only in the API server. */
const operatorRooms = ['discover', 'inventory', 'claim', 'boot', 'release', 'upkeep'];

/** Reads `rooms.json` and every import of the project, and lists what the plan does not allow. */
export function findBreaches(root: string): Breach[] {
  const rooms = readRooms(root);
  return sourceFiles(root).flatMap((file) => breachesIn(file, readFileSync(join(root, file), 'utf8'), rooms));
}

export function readRooms(root: string): Rooms {
  // The file is ours; a room that it lacks is found by the first file in it.
  const { rooms } = JSON.parse(readFileSync(join(root, 'rooms.json'), 'utf8')) as { rooms: Rooms };
  return rooms;
}

/** The breaches of one file; `file` is relative to the root. */
export function breachesIn(file: string, text: string, rooms: Rooms): Breach[] {
  const from = roomOf(file, rooms);
  if (from === undefined)
    return [{ file, line: 1, message: 'the file lies in no room; expected one of those in rooms.json' }];
  return importsIn(text).flatMap(({ specifier, line }) => {
    const target = targetOf(file, specifier, rooms);
    const message =
      target === undefined ? undefined : (wallBetween(from, target.room, rooms) ?? innerWall(file, target.path));
    return message === undefined ? [] : [{ file, line, message: `imports ${specifier}: ${message}` }];
  });
}

function wallBetween(from: string, to: string, rooms: Rooms): string | undefined {
  const allowed = rooms[from] ?? [];
  if (from === to || allowed.includes('*') || allowed.includes(to)) return undefined;
  return `${from} may use ${allowed.length === 0 ? 'nothing of ours' : allowed.join(', ')}, not ${to}; let the two meet in the API server, or change rooms.json with a decision record`;
}

/** Rooms of the operator do not import one another. */
function innerWall(file: string, target: string): string | undefined {
  const [from, to] = [file, target].map(operatorRoomOf);
  if (from === undefined || to === undefined || from === to) return undefined;
  return `room ${from} of the operator may not use room ${to}; move what both need to services/operator/src`;
}

function operatorRoomOf(path: string): string | undefined {
  const [, name] = /^services\/operator\/src\/([^/]+)\//.exec(path) ?? [];
  return name !== undefined && operatorRooms.includes(name) ? name : undefined;
}

function targetOf(file: string, specifier: string, rooms: Rooms): { room: string; path: string } | undefined {
  const path = pathOf(file, specifier, rooms);
  const room = path === undefined ? undefined : roomOf(path, rooms);
  return path === undefined || room === undefined ? undefined : { room, path };
}

/**
 * The file an import means, relative to the root; undefined for what is not ours. Our packages are named after their
 * folders: `@metal/kube/client.ts` is `packages/kube/src/client.ts`.
 */
export function pathOf(file: string, specifier: string, rooms: Rooms): string | undefined {
  if (specifier.startsWith('.')) return relative('/', resolve('/', dirname(file), specifier));
  const [, name, rest] = /^@metal\/([^/]+)\/(.+)$/.exec(specifier) ?? [];
  const room = Object.keys(rooms).find((candidate) => candidate.endsWith(`/${name}`));
  return room === undefined ? undefined : `${room}/src/${rest}`;
}

const roomOf = (path: string, rooms: Rooms): string | undefined =>
  Object.keys(rooms).find((room) => path.startsWith(`${room}/`));
