import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { DataImage } from '@metal/api/metal3/data-image.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { backOffMs, type Random } from '../host/back-off.ts';
import { NodeBusy, type NodeServices, NotSupported } from '../provisioner/node-services.ts';
import { busy, done, type StepResult } from '../provisioner/step-result.ts';

type Status = NonNullable<DataImage['status']>;

export interface DataImageWork {
  readonly client: KubeClient;
  readonly host: BareMetalHost;
  readonly image: DataImage;
  readonly services: NodeServices;
  readonly random: Random;
  /** RFC 3339. */
  readonly at: string;
}

const settleMs = seconds(30);

/**
 * Brings the virtual drive to what the DataImage asks, before the host is powered on. One change at a time: the drive is read again
 * before the next one. The host is powered on when the result is `done`.
 */
export async function reconcileDataImage(work: DataImageWork): Promise<StepResult> {
  const { image, services, random, at } = work;
  const before: Status = image.status ?? {};
  try {
    const { isAttached } = await services.readDataImage();
    const next = await change(work, isAttached);
    await save(work, { ...withoutError(before), lastReconciled: at, ...attached(next.url) });
    return next.result;
  } catch (error) {
    if (error instanceof NodeBusy) return busy(settleMs);
    const message = error instanceof Error ? error.message : String(error);
    const count = (before.error?.count ?? 0) + 1;
    await save(work, { ...before, lastReconciled: at, error: { count, message } });
    // No retry helps; the owner of the host waits for its machine.
    if (error instanceof NotSupported) return done;
    return busy(Math.max(settleMs, backOffMs(count, random)));
  }
}

interface Changed {
  readonly result: StepResult;
  /** In the drive; undefined if it is empty. */
  readonly url: string | undefined;
}

async function change({ image, services }: DataImageWork, isAttached: boolean): Promise<Changed> {
  const present = isAttached ? (image.status?.attachedImage?.url ?? '') : undefined;
  const isDeleting = image.metadata.deletionTimestamp !== undefined;
  const wanted = isDeleting ? undefined : image.spec.url;
  if (present === wanted) return { result: done, url: present };
  if (present !== undefined) {
    await services.detachDataImage();
    return { result: busy(settleMs), url: undefined };
  }
  if (wanted === undefined) return { result: done, url: undefined };
  await services.attachDataImage(wanted);
  return { result: busy(settleMs), url: wanted };
}

function withoutError(status: Status): Status {
  const { error, attachedImage: _, ...rest } = status;
  return error === undefined ? rest : { ...rest, error: { count: 0, message: '' } };
}

const attached = (url: string | undefined): Pick<Status, 'attachedImage'> =>
  url === undefined ? {} : { attachedImage: { url } };

async function save({ client, image }: DataImageWork, status: Status): Promise<void> {
  const { name, namespace } = image.metadata;
  await client.apply(
    DataImage,
    { metadata: { name, namespace }, status },
    { fieldManager: fieldManagerOf('baremetalhost'), subresource: 'status', force: true },
  );
}
