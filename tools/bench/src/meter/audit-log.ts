import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod';
import { type Counts, sumOf } from '../counts.ts';

/** The requests of users in this group are counted by user. */
export const measuredGroup = 'bench:measured';

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: [measuredGroup] }, { level: 'None' }],
};

/** Lumberjack rotates the file at 100 MB by default. */
const mostMegabytes = 100_000;

/** The log of thousands of servers is larger than the maximum string length. */
const usualBytesAtOnce = 16 * 1_048_576;

const requestShape = z.object({
  stage: z.string(),
  verb: z.string(),
  user: z.object({ username: z.string() }),
  objectRef: z.object({ resource: z.string(), subresource: z.string().optional() }).optional(),
  requestURI: z.string(),
});

/** One request that the API server answered. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  /** `servers`, `servers/status`, or the path of a non-resource request. */
  readonly resource: string;
}

/**
 * Reads one line of an audit log.
 * @returns undefined for the second line of a watch: its start and its end are logged.
 */
export function requestIn(line: string): AuditedRequest | undefined {
  const { stage, verb, user, objectRef, requestURI } = requestShape.parse(JSON.parse(line));
  if (verb === 'watch' ? stage !== 'ResponseStarted' : stage !== 'ResponseComplete') return undefined;
  const { resource = requestURI.replace(/\?.*$/s, ''), subresource } = objectRef ?? {};
  return { user: user.username, verb, resource: subresource === undefined ? resource : `${resource}/${subresource}` };
}

/** Requests by user from the audit log of the API server: exact, and the same for every operator. */
export class AuditLog {
  readonly #path: string;
  readonly #bytesAtOnce: number;
  #reading: Promise<void> = Promise.resolve();
  readonly #byUser = new Map<string, Map<string, number>>();
  #readTo = 0;
  #partialLine = '';
  readonly #decoder = new StringDecoder('utf8');

  constructor(path: string, bytesAtOnce = usualBytesAtOnce) {
    this.#path = path;
    this.#bytesAtOnce = bytesAtOnce;
  }

  /** Flags that make an API server write the log that `logIn` reads; the policy goes to the same directory. */
  static async apiServerFlags(directory: string): Promise<string[]> {
    const policyPath = join(directory, 'audit-policy.json');
    await writeFile(policyPath, JSON.stringify(policy));
    return [
      `--audit-policy-file=${policyPath}`,
      `--audit-log-path=${join(directory, 'audit.log')}`,
      // A line is written before the client has its response.
      '--audit-log-mode=blocking',
      `--audit-log-maxsize=${mostMegabytes}`,
    ];
  }

  static logIn(directory: string): AuditLog {
    return new AuditLog(join(directory, 'audit.log'));
  }

  /** Requests of a user so far, by verb and resource. */
  async requestsOf(user: string): Promise<Counts> {
    await this.#readOn();
    return new Map(this.#byUser.get(user));
  }

  /** Requests of all counted users. */
  async requests(): Promise<Counts> {
    await this.#readOn();
    return sumOf(this.#byUser.values());
  }

  /** In sequence, otherwise lines would count twice. */
  #readOn(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readToEnd());
    return this.#reading;
  }

  async #readToEnd(): Promise<void> {
    await using file = await open(this.#path, 'r');
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(this.#bytesAtOnce, size - this.#readTo));
    while (this.#readTo < size) {
      const wanted = Math.min(buffer.length, size - this.#readTo);
      const { bytesRead } = await file.read(buffer, 0, wanted, this.#readTo);
      this.#readTo += bytesRead;
      const lines = `${this.#partialLine}${this.#decoder.write(buffer.subarray(0, bytesRead))}`.split('\n');
      this.#partialLine = lines.pop() ?? '';
      for (const line of lines) this.#count(requestIn(line));
    }
  }

  #count(request: AuditedRequest | undefined): void {
    if (request === undefined) return;
    const counts = this.#byUser.get(request.user) ?? new Map<string, number>();
    this.#byUser.set(request.user, counts);
    const name = `${request.verb} ${request.resource}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}

const writingVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Creates, updates, patches (apply among them) and deletes; events included, leases not: those are renewed by the clock. */
export function isWrite(name: string): boolean {
  const [verb = '', resource = ''] = name.split(' ');
  return writingVerbs.has(verb) && resource !== 'leases';
}
