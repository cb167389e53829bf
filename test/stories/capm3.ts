import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { pausedAnnotation, rebootAnnotation, statusAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { isConflict } from '@metal/kube/errors.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';

const namespace = 'default';
const clusterLabel = 'cluster.x-k8s.io/cluster-name';
export const nodeReuseLabel = 'infrastructure.cluster.x-k8s.io/node-reuse';
const unhealthyAnnotation = 'capm3.metal3.io/unhealthy';
const blockMoveAnnotation = 'clusterctl.cluster.x-k8s.io/block-move';
export const capm3Pause = 'metal3.io/capm3';

/** States in which a released host is free again. */
const releasedStates = ['registering', 'match profile', 'inspecting', 'ready', 'available', '', 'unmanaged'];

export interface Machine {
  readonly name: string;
  readonly cluster: string;
  readonly image: NonNullable<BareMetalHost['spec']['image']>;
  readonly userData: string;
  /** Labels that its host must have. */
  readonly hostSelector?: Readonly<Record<string, string>>;
  readonly automatedCleaningMode?: 'metadata' | 'disabled';
}

/** What the Cluster API provider of Metal3 (v1beta1, controllers of Metal3Machine, remediation and pivot) reads and writes of hosts. */
export class Capm3 {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async hosts(): Promise<readonly BareMetalHost[]> {
    const { items } = await this.#client.list(BareMetalHost, { namespace });
    return items;
  }

  /** Hosts that the machine may take; those for node reuse first. */
  async candidates({ hostSelector = {}, cluster }: Pick<Machine, 'hostSelector' | 'cluster'>): Promise<string[]> {
    const free = (await this.hosts()).filter(
      (host) =>
        Object.entries(hostSelector).every(([key, value]) => host.metadata.labels?.[key] === value) && isFree(host),
    );
    const reused = free.filter(({ metadata }) => metadata.labels?.[nodeReuseLabel] === cluster);
    return (reused.length > 0 ? reused : free).map(({ metadata }) => metadata.name).toSorted();
  }

  /** One patch of the host, and a label on the Secret of its BMC. Repeated when somebody else changed the host meanwhile. */
  async associate(name: string, machine: Machine): Promise<void> {
    try {
      await this.#associateOnce(name, machine);
    } catch (error) {
      if (!isConflict(error)) throw error;
      await this.associate(name, machine);
    }
  }

  async #associateOnce(name: string, machine: Machine): Promise<void> {
    const host = await this.#get(name);
    const { image, userData, cluster, automatedCleaningMode } = machine;
    const isEmpty = host.spec.image === undefined && host.spec.customDeploy === undefined;
    const credentialsName = host.spec.bmc?.credentialsName;
    if (credentialsName !== undefined)
      await this.#client.mergePatch(
        Secret,
        { namespace, name: credentialsName },
        labelled({ [clusterLabel]: cluster }),
      );
    await this.#client.mergePatch(
      BareMetalHost,
      { namespace, name },
      {
        ...labelled({ [clusterLabel]: cluster, [nodeReuseLabel]: null }),
        spec: {
          consumerRef: {
            kind: 'Metal3Machine',
            apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
            name: machine.name,
            namespace,
          },
          ...(isEmpty ? { image, userData: { name: userData, namespace } } : {}),
          ...(automatedCleaningMode === undefined ? {} : { automatedCleaningMode }),
          online: true,
        },
      },
      { resourceVersion: host.metadata.resourceVersion },
    );
  }

  /** Addresses of the node of a provisioned host. */
  async nodeAddresses(name: string): Promise<string[]> {
    const { status } = await this.#get(name);
    if (status?.provisioning.state !== 'provisioned') return [];
    return (status.hardware?.nics ?? []).flatMap(({ ip }) => (ip === undefined || ip === '' ? [] : [ip]));
  }

  /** The machine is deleted: the host is emptied and powered off. */
  async empty(name: string): Promise<void> {
    const nothing = { image: null, customDeploy: null, userData: null, metaData: null, networkData: null };
    await this.#client.mergePatch(BareMetalHost, { namespace, name }, { spec: { ...nothing, online: false } });
  }

  isReleased({ status }: BareMetalHost): boolean {
    const { state } = status?.provisioning ?? { state: '' };
    return releasedStates.includes(state) || (state === 'externally provisioned' && status?.poweredOn === false);
  }

  /** The last writes: the host belongs to nobody, or waits for another machine of the cluster. */
  async forget(name: string, reuseFor?: string): Promise<void> {
    await this.#client.mergePatch(
      BareMetalHost,
      { namespace, name },
      {
        ...labelled({ [clusterLabel]: null, [nodeReuseLabel]: reuseFor ?? null }),
        spec: { consumerRef: null },
      },
    );
  }

  /** The cluster is paused for a move to another management cluster. */
  async pause(name: string): Promise<void> {
    await this.#annotate(name, { [blockMoveAnnotation]: '' });
    const { status } = await this.#get(name);
    const { hardware: _, ...rest } = status ?? {};
    await this.#annotate(name, { [pausedAnnotation]: capm3Pause, [statusAnnotation]: goStatus(rest) });
    await this.#annotate(name, { [blockMoveAnnotation]: null });
  }

  async unpause(name: string): Promise<void> {
    const { metadata } = await this.#get(name);
    if (metadata.annotations?.[pausedAnnotation] === capm3Pause)
      await this.#annotate(name, { [pausedAnnotation]: null });
  }

  /** Power off by remediation; `end` powers on again. */
  async startRemediation(name: string, uid: string): Promise<{ end: () => Promise<void> }> {
    const key = `${rebootAnnotation}/metal3-remediation-${uid}`;
    await this.#annotate(name, { [key]: JSON.stringify({ mode: 'hard', force: false }) });
    return { end: () => this.#annotate(name, { [key]: null }) };
  }

  markUnhealthy(name: string): Promise<void> {
    return this.#annotate(name, { [unhealthyAnnotation]: 'capm3/UnhealthyNode' });
  }

  #get(name: string): Promise<BareMetalHost> {
    return this.#client.get(BareMetalHost, { namespace, name });
  }

  async #annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#client.mergePatch(BareMetalHost, { namespace, name }, { metadata: { annotations } });
  }
}

const labelled = (labels: Readonly<Record<string, string | null>>): object => ({ metadata: { labels } });

function isFree({ metadata, spec, status }: BareMetalHost): boolean {
  const annotations = metadata.annotations ?? {};
  return (
    spec.consumerRef === undefined &&
    metadata.deletionTimestamp === undefined &&
    (status?.errorMessage ?? '') === '' &&
    annotations[pausedAnnotation] === undefined &&
    annotations[unhealthyAnnotation] === undefined &&
    ['ready', 'available'].includes(status?.provisioning.state ?? '')
  );
}

/** As Go encodes a status: structs are never left out, and times that are not set are null. */
function goStatus(status: object): string {
  const provisioning = 'provisioning' in status && typeof status.provisioning === 'object' ? status.provisioning : {};
  return JSON.stringify({
    goodCredentials: {},
    triedCredentials: {},
    lastUpdated: null,
    ...status,
    provisioning: { image: { url: '' }, ...provisioning },
    operationHistory: {
      register: { start: null, end: null },
      inspect: { start: null, end: null },
      provision: { start: null, end: null },
      deprovision: { start: null, end: null },
      ...('operationHistory' in status && typeof status.operationHistory === 'object' ? status.operationHistory : {}),
    },
  });
}
