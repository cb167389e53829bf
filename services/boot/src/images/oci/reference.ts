/** An image reference in Docker's grammar, with short names expanded. */
export interface ImageReference {
  /** Host and optional port, in lower case; docker.io for all names of the Docker Hub. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string | undefined;
  /** Wins over the tag. */
  readonly digest: string | undefined;
}

const hub = 'docker.io';
const namesOfHub = new Set([hub, 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com']);
const maxNameLength = 255;

const host =
  /^(?:(?:[a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9])(?:\.(?:[a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9]))*|\[[0-9a-f:]+\])(?::\d{1,5})?$/;
const repository = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tag = /^\w[\w.-]{0,127}$/;
export const isDigest = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text);

/** Undefined for an invalid reference. */
export function parseImageReference(text: string): ImageReference | undefined {
  const [named = '', digest, ...more] = text.split('@');
  const colon = named.lastIndexOf(':');
  const hasTag = colon > named.lastIndexOf('/');
  const name = hasTag ? named.slice(0, colon) : named;
  const wantedTag = hasTag ? named.slice(colon + 1) : undefined;
  const { registry, path } = splitName(name);
  if (more.length > 0 || name.length > maxNameLength || !host.test(registry) || !repository.test(path))
    return undefined;
  if (wantedTag !== undefined && !tag.test(wantedTag)) return undefined;
  if (digest !== undefined && !isDigest(digest)) return undefined;
  const tagOrLatest = wantedTag ?? (digest === undefined ? 'latest' : undefined);
  return { registry, repository: path, tag: tagOrLatest, digest };
}

/** The first part is a host if it contains a dot or a colon, or is localhost; otherwise the name is one of the Docker Hub. */
function splitName(name: string): { registry: string; path: string } {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const registry = canonicalRegistry(isHost ? first : hub);
  const rest = isHost ? name.slice(slash + 1) : name;
  return { registry, path: registry === hub && !rest.includes('/') ? `library/${rest}` : rest };
}

/** The canonical name of a registry. */
export function canonicalRegistry(name: string): string {
  const lower = name.trim().toLowerCase();
  return namesOfHub.has(lower) ? hub : lower;
}

/** The API host of a registry. */
export const apiHostOf = (registry: string): string => (registry === hub ? 'registry-1.docker.io' : registry);

export const nameOf = ({ registry, repository }: ImageReference): string => `${registry}/${repository}`;

export const textOf = (reference: ImageReference): string =>
  `${nameOf(reference)}${reference.tag === undefined ? '' : `:${reference.tag}`}${reference.digest === undefined ? '' : `@${reference.digest}`}`;
