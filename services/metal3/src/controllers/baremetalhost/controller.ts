import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import { hostFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { Metal3Context } from '../../context.ts';
import { beginPass, isPausedHost } from './begin.ts';
import { readHostFacts } from './facts.ts';
import { enterState, stateOf } from './memory.ts';
import type { PassRun } from './pass-run.ts';
import { hostReasons } from './reasons.ts';
import { reportHost } from './report.ts';
import { runActions } from './run-actions.ts';
import { statusEvents } from './status-events.ts';
import { countSkippedSteps, countStatusChange } from './status-metrics.ts';
import { decideDeletion, hostTable } from './table.ts';
import { concernsHost, hostNamed, hostsOfSecret, isRelevantChange } from './watches.ts';

const stepsPerPass = 20;

export const hostController = phaseController({
  name: 'baremetalhost',
  kind: BareMetalHost,
  phaseOf: stateOf,
  begin: beginPass,
  observe: (run: PassRun, { spec }: BareMetalHost, _context: Metal3Context, { now, phase }) =>
    enterState(run.pass, phase, { spec, at: rfc3339(now) }),
  facts: (host: BareMetalHost, _context: Metal3Context, { phase: state, memory }) =>
    readHostFacts(host, memory.surroundings, { state, pass: memory.pass }),
  table: hostTable,
  reasons: hostReasons,
  stepsPerReconcile: stepsPerPass,
  deletion: decideDeletion,
  finalizer: hostFinalizer,
  actions: runActions,
  report: reportHost,
  afterStatusWrite: (before, after, { hostMetrics }, { credentialProblem, pass }) => {
    countStatusChange(hostMetrics, before, after);
    countSkippedSteps(hostMetrics, pass, { before, after });
    return statusEvents(before, after, credentialProblem);
  },
  conditionTypes: ['Manageable', 'AvailableForProvisioning', 'Provisioned', 'Ready', 'Progressing', 'Healthy'],
  paused: isPausedHost,
  predicate: isRelevantChange,
  watches: [
    { kind: Secret, mapToKeys: hostsOfSecret },
    ...[HardwareData, PreprovisioningImage, HostFirmwareSettings, HostFirmwareComponents, HostUpdatePolicy].map(
      (kind) => ({ kind, mapToKeys: hostNamed, predicate: concernsHost }),
    ),
  ],
  sources: ({ backEnds }, enqueue) => backEnds.onChange(enqueue),
  writes: [
    'patch:baremetalhosts',
    'baremetalhosts/status',
    'hardwaredata',
    'preprovisioningimages',
    'hostfirmwaresettings',
    'hostfirmwarecomponents',
    'hostfirmwarecomponents/status',
    'patch:hostupdatepolicies',
    'dataimages/status',
    'secrets',
    // Of the native back end.
    'bmcs',
    'bmcsecrets',
    'servers',
    'serverclaims',
    'biossettings',
    'biosversions',
    'bmcversions',
    'firmwareversions',
  ],
});

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
