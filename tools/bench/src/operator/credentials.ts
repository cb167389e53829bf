import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { measuredGroup } from '../meter/audit-log.ts';

/** Users of replicas. */
const mostReplicas = 16;

const kubeconfig = z.object({ clusters: z.array(z.object({ name: z.string(), cluster: z.unknown() })).min(1) });

/**
 * One user per replica, authenticated by a token as in a cluster: a client certificate is verified at each request, which costs a
 * twelfth of the processor time of the API server.
 */
export class Credentials {
  readonly #directory: string;
  readonly #tokens: readonly string[];

  private constructor(directory: string, tokens: readonly string[]) {
    this.#directory = directory;
    this.#tokens = tokens;
  }

  static async in(directory: string): Promise<Credentials> {
    const tokens = Array.from({ length: mostReplicas }, () => randomBytes(24).toString('base64url'));
    const lines = tokens.map(
      (token, replica) => `${token},${userOf(replica)},${replica},"system:masters,${measuredGroup}"\n`,
    );
    await writeFile(join(directory, 'tokens.csv'), lines.join(''), { mode: 0o600 });
    return new Credentials(directory, tokens);
  }

  get apiServerFlags(): string[] {
    return [`--token-auth-file=${join(this.#directory, 'tokens.csv')}`];
  }

  /** The user of the replica, and a kubeconfig of it beside that of the administrator. */
  async issueFor(number: number, administrator: string): Promise<{ user: string; kubeconfigPath: string }> {
    const token = this.#tokens[number];
    if (token === undefined) throw new Error(`there are ${mostReplicas} users, and this is replica ${number + 1}`);
    const { clusters } = kubeconfig.parse(parse(await readFile(administrator, 'utf8')));
    const user = userOf(number);
    const context = { cluster: clusters[0]?.name, user };
    const text = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters,
      users: [{ name: user, user: { token } }],
      contexts: [{ name: user, context }],
      'current-context': user,
    };
    const kubeconfigPath = join(this.#directory, `kubeconfig-${user}`);
    await writeFile(kubeconfigPath, JSON.stringify(text), { mode: 0o600 });
    return { user, kubeconfigPath };
  }
}

const userOf = (replica: number): string => `operator-${replica}`;
