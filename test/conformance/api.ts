import { KubeClient } from '@metal/kube/client/client.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { type AdmissionRule } from '@metal/kube/kinds/admission.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import { Transport } from '@metal/kube/client/transport.ts';
import { openCluster, startCluster } from '@metal/testenv/cluster/cluster.ts';
import { installAdmissionRules } from '@metal/kube/client/install-kinds.ts';
import { untilEnforced } from '@metal/testenv/cluster/until-enforced.ts';

export interface ApiResponse {
  readonly status: number;
  /** The message that `kubectl` prints: that of the Status object if the request was rejected. */
  readonly message: string;
  readonly warnings: readonly string[];
  readonly object: Readonly<Record<string, unknown>>;
}

/** An API server with the product's CRDs, used by plain HTTP, because a client would hide warnings and messages. */
export class Api implements AsyncDisposable {
  readonly client: KubeClient;
  readonly #transport: Transport;
  readonly #stack: AsyncDisposableStack;

  constructor(kubeconfigPath: string, stack: AsyncDisposableStack) {
    this.client = stack.use(new KubeClient({ kubeconfigPath }));
    this.#transport = stack.use(new Transport({ kubeconfigPath }));
    this.#stack = stack;
  }

  create(kind: Kind, name: string, body: object): Promise<ApiResponse> {
    const namespace = kind.scope === 'Namespaced' ? { namespace: 'default' } : {};
    const { apiVersion, kind: kindName } = kind;
    const object = { apiVersion, kind: kindName, metadata: { name, ...namespace }, ...body };
    return this.#send('POST', pathOf(kind), object, 'application/json');
  }

  patch(kind: Kind, name: string, patch: object, subresource = ''): Promise<ApiResponse> {
    return this.#send('PATCH', `${pathOf(kind)}/${name}${subresource}`, patch, 'application/merge-patch+json');
  }

  delete(kind: Kind, name: string): Promise<ApiResponse> {
    return this.#send('DELETE', `${pathOf(kind)}/${name}`, {}, 'application/json');
  }

  /** Resolves when admission policies are enforced, tested by an extra policy. */
  async areAdmissionRulesEnforced(): Promise<void> {
    await installAdmissionRules(this.client, [canary]);
    const { apiVersion, kind: kindName } = canary.kind;
    const object = { apiVersion, kind: kindName, metadata: { name: 'canary' } };
    await untilEnforced(async () => {
      const response = await this.#send('POST', `${pathOf(canary.kind)}?dryRun=All`, object, 'application/json');
      return response.message.includes('the canary sings');
    });
  }

  async #send(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body: object,
    contentType: string,
  ): Promise<ApiResponse> {
    const { status, headers, text } = await this.#transport.request({
      method,
      path,
      body: JSON.stringify(body),
      contentType,
    });
    // The API server answers every request with one JSON object.
    const object = JSON.parse(text) as Record<string, unknown>;
    return {
      status,
      message: status >= 400 ? String(object.message) : '',
      warnings: [headers.warning ?? []].flat(),
      object,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

const canary: AdmissionRule = {
  name: 'canary',
  kind: Endpoint,
  operations: ['CREATE'],
  action: 'Deny',
  checks: [{ holds: `object.metadata.name != 'canary'`, message: `'the canary sings'` }],
};

function pathOf({ apiVersion, plural, scope }: Kind): string {
  return `/apis/${apiVersion}${scope === 'Namespaced' ? '/namespaces/default' : ''}/${plural}`;
}

/** Starts an API server with all CRDs; rejects if it rejects one or does not establish it. */
export async function openApi(): Promise<Api> {
  await using started = new AsyncDisposableStack();
  const cluster = started.use(await openCluster());
  return new Api(cluster.kubeconfigPath, started.move());
}

/** The same without admission rules. */
export async function openApiWithoutAdmission(): Promise<Api> {
  await using started = new AsyncDisposableStack();
  const { kubeconfigPath } = started.use(await startCluster({ admission: false }));
  return new Api(kubeconfigPath, started.move());
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

/** Conditions of a CRD, which the API server writes in this shape. */
export function conditionsOf(object: object): readonly Condition[] {
  const { status } = object as { status?: { conditions?: Condition[] } };
  return status?.conditions ?? [];
}
