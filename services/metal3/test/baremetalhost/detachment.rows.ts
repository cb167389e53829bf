import { busy, failed } from '../../src/provisioner/step-result.ts';
import { type HostChanges, hostIn } from './example-host.ts';
import type { Row } from './row.ts';
import type { HostState } from '../../src/controllers/baremetalhost/types.ts';

const image = { url: 'https://images.example/os', checksum: 'c' };
const deployed = { spec: { image }, provisioning: { image } };
const detach = (text: string, state: HostState, changes: HostChanges = {}) =>
  hostIn(state, { ...deployed, ...changes, annotations: { 'baremetalhost.metal3.io/detached': text } });

const atRest: HostState[] = ['available', 'ready', 'provisioned'];
const atWork: [state: HostState, end: string][] = [
  ['registering', 'wait 10000 Registering'],
  ['inspecting', 'wait 10000 Registering'],
  ['preparing', 'wait 10000 Registering'],
  ['provisioning', 'wait 10000 Registering'],
  ['deprovisioning', 'wait 10000 Registering'],
];

export const detachmentRows: readonly Row[] = [
  ...atRest.map(
    (state): Row => ({
      title: `a host in state "${state}" is detached`,
      host: detach('', state),
      found: ['', 'saved', 'wait 600000 Detached'],
      calls: 'detach',
    }),
  ),
  ...atWork.flatMap(([state, end]): Row[] => [
    {
      title: `a host in state "${state}" is not detached without force`,
      host: detach('', state),
      script: { results: { register: busy(10_000) } },
      found: ['', 'unsaved', end],
      calls: 'register',
    },
    {
      title: `a host in state "${state}" is detached with force`,
      host: detach('{"force":true}', state),
      found: ['', 'saved', 'wait 600000 Detached'],
      calls: 'detach forced',
    },
  ]),
  {
    title: 'a detached host stays detached',
    host: detach('', 'provisioned', { status: { operationalStatus: 'detached' }, provisioning: { ID: '' } }),
    found: ['', 'unsaved', 'wait 600000 Detached'],
    calls: 'detach',
  },
  {
    title: 'the detachment goes on',
    host: detach('', 'provisioned'),
    script: { results: { detach: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 Detaching'],
  },
  {
    title: 'the detachment failed',
    host: detach('', 'provisioned'),
    script: { results: { detach: failed('no') } },
    found: ['', 'saved', 'wait 60000 DetachError'],
  },
  {
    title: 'a detached host is attached again',
    host: hostIn('provisioned', { ...deployed, status: { operationalStatus: 'detached' } }),
    found: ['', 'saved', 'wait 0 Reattaching'],
    calls: '',
  },
  {
    title: 'a failed detachment is forgotten when nobody wants it any more',
    host: hostIn('provisioned', {
      ...deployed,
      status: { operationalStatus: 'error', errorType: 'detach error', errorMessage: 'no', errorCount: 3 },
    }),
    found: ['', 'saved', 'wait 0 Reattaching'],
    calls: '',
  },
];
