import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { CleanupFacts } from './facts.ts';

export type Found = Omit<NonNullable<ErasureReport['status']>, 'certificate'>;

/** Results of the setting resets that the policy requests. */
export const foundOf = ({ bios, bootOrder }: Pick<CleanupFacts, 'bios' | 'bootOrder'>): Found => ({
  ...(bios.kind === 'done' ? { bios: { requestedTime: bios.requestedTime, result: bios.result } } : {}),
  ...(bootOrder.kind === 'done' ? { bootOrder: { devices: [...bootOrder.devices], result: bootOrder.result } } : {}),
});

export interface Certified {
  readonly server: Server;
  readonly report: ErasureReport;
  readonly found: Found;
  readonly issued: { readonly at: string; readonly namespace: string };
}

/** The signed document. It is complete without the cluster: its reader may have nothing else. */
export function certificateOf({ server, report, found, issued }: Certified): object {
  const { metadata, spec, status } = server;
  const { serialNumber, manufacturer, model, cleanup } = status ?? {};
  const { formerClaim, attempt, mode, state, receivedTime, disks = [] } = report.spec;
  return {
    type: 'metal.ironcore.dev/cleanup-certificate/v1',
    issuedTime: issued.at,
    judge: { name: 'metal-operator', namespace: issued.namespace },
    record: { kind: 'ErasureReport', name: report.metadata.name, uid: report.metadata.uid },
    server: {
      name: metadata.name,
      uid: metadata.uid,
      systemUUID: spec.systemUUID.toLowerCase(),
      serialNumber,
      manufacturer,
      model,
    },
    formerClaim,
    neededSince: cleanup?.neededSince,
    attempt,
    startedTime: cleanup?.startedTime,
    reportedTime: receivedTime,
    result: state,
    disks: { mode, records: disks },
    ...found,
  };
}
