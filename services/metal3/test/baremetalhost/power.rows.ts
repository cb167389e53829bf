import { busy, failed } from '../../src/provisioner/step-result.ts';
import { hostIn } from './example-host.ts';
import type { Row } from './row.ts';

const image = { url: 'https://images.example/os', checksum: 'c' };
const deployed = { spec: { image }, provisioning: { image } };
const off = { status: { poweredOn: false } };
const deployedOff = { ...deployed, ...off };
const one = 'reboot.metal3.io';
const poll = 'wait 60000 Provisioned';

export const powerRows: readonly Row[] = [
  {
    title: 'another power than the known one is stored first',
    host: hostIn('provisioned', deployed),
    script: { power: false },
    found: ['', 'saved', 'wait 0 ReadingPower'],
    calls: 'register adopt',
  },
  {
    title: 'a deployed host is powered on',
    host: hostIn('provisioned', deployedOff),
    script: { power: false, results: { powerOn: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 PoweringOn'],
    calls: 'register adopt powerOn',
  },
  {
    title: 'a deployed host is powered off softly',
    host: hostIn('provisioned', { ...deployed, spec: { image, online: false } }),
    script: { power: true, results: { powerOff: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 PoweringOff'],
    calls: 'register adopt powerOff soft',
  },
  {
    title: 'after a failure it is powered off hard',
    host: hostIn('provisioned', {
      ...deployed,
      spec: { image, online: false },
      status: { errorType: 'power management error', errorCount: 1, operationalStatus: 'error', errorMessage: 'no' },
    }),
    script: { power: true, results: { powerOff: busy(3_000) } },
    found: ['', 'saved', 'wait 3000 PoweringOff'],
    calls: 'register adopt powerOff hard',
  },
  {
    title: 'the power cannot be changed',
    host: hostIn('provisioned', deployedOff),
    script: { power: false, results: { powerOn: failed('no') } },
    found: ['', 'saved', 'wait 60000 PowerManagementError'],
  },
  {
    title: 'the power has settled',
    host: hostIn('provisioned', { ...deployedOff, status: { poweredOn: false, errorCount: 2 } }),
    found: ['', 'saved', poll],
    calls: 'register adopt powerOn',
  },
  {
    title: 'a restart is requested',
    host: hostIn('provisioned', { ...deployed, annotations: { [one]: '' } }),
    script: { power: true, results: { powerOff: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 PoweringOff'],
    calls: 'register adopt powerOff soft',
  },
  {
    title: 'one of two restarts is hard',
    host: hostIn('provisioned', { ...deployed, annotations: { [one]: '', [`${one}/a`]: '{"mode":"hard"}' } }),
    script: { power: true, results: { powerOff: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 PoweringOff'],
    calls: 'register adopt powerOff hard',
  },
  {
    title: 'the request is removed when the host is off, which is powered on again',
    host: hostIn('provisioned', { ...deployedOff, annotations: { [one]: '' } }),
    script: { power: false, results: { powerOn: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 PoweringOn'],
    calls: 'register adopt powerOn',
  },
  {
    title: 'the request of a client keeps the host off',
    host: hostIn('provisioned', { ...deployedOff, annotations: { [`${one}/a`]: '' } }),
    script: { power: false },
    found: ['', 'unsaved', poll],
    calls: 'register adopt',
  },
  {
    title: 'a free host is not restarted without force',
    host: hostIn('available', { annotations: { [one]: '' } }),
    script: { power: true },
    found: ['', 'unsaved', 'wait 60000 Available'],
    calls: 'register',
  },
  {
    title: 'a free host is restarted with force',
    host: hostIn('available', { annotations: { [one]: '{"force":true}' } }),
    script: { power: true, results: { powerOff: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 PoweringOff'],
    calls: 'register powerOff soft',
  },
  {
    title: 'a host that must not be powered off is restarted, and the request is removed',
    host: hostIn('provisioned', {
      ...deployed,
      spec: { image, disablePowerOff: true },
      annotations: { [one]: '' },
    }),
    script: { power: true, results: { powerOff: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 PoweringOff'],
    calls: 'register adopt powerOff soft',
  },
  {
    title: 'firmware is changed before a deployed host is powered on',
    host: hostIn('provisioned', deployedOff),
    script: { power: false },
    around: { hasServicing: true },
    found: ['', 'saved', 'wait 0 Servicing'],
    calls: 'register adopt',
  },
  {
    title: 'a servicing goes on, also when what was started is no change any more',
    host: hostIn('provisioned', { ...deployed, status: { poweredOn: false, operationalStatus: 'servicing' } }),
    script: { power: false, results: { service: busy(10_000) } },
    around: { hasServicing: false, hasServicingSpec: true },
    found: ['', 'unsaved', 'wait 10000 Servicing'],
    calls: 'register adopt service',
  },
  {
    title: 'a servicing whose changes are unread is not taken for one without changes',
    host: hostIn('provisioned', { ...deployed, status: { poweredOn: false, operationalStatus: 'servicing' } }),
    script: { power: false },
    around: { firmware: 'unread' },
    found: ['', 'unsaved', 'wait 60000 FirmwareUnread'],
    calls: 'register adopt',
  },
  {
    title: 'a servicing failed',
    host: hostIn('provisioned', { ...deployed, status: { poweredOn: false, operationalStatus: 'servicing' } }),
    script: { power: false, results: { service: failed('no') } },
    around: { hasServicing: true },
    found: ['', 'saved', 'wait 60000 ServicingError'],
  },
  {
    title: 'a failed servicing begins again, also without changes, so that it can be given up',
    host: hostIn('provisioned', {
      ...deployed,
      status: {
        poweredOn: true,
        operationalStatus: 'error',
        errorType: 'servicing error',
        errorMessage: 'no',
        errorCount: 1,
      },
    }),
    script: { power: true },
    found: ['', 'saved', 'wait 0 Servicing'],
    calls: 'register adopt',
  },
  {
    title: 'a servicing ends when its firmware is removed from the objects',
    host: hostIn('provisioned', { ...deployed, status: { poweredOn: false, operationalStatus: 'servicing' } }),
    script: { power: false, results: { service: busy(3_000) } },
    found: ['', 'unsaved', 'wait 3000 Servicing'],
    calls: 'register adopt service nothing',
  },
  {
    title: 'a servicing is over',
    host: hostIn('provisioned', { ...deployed, status: { poweredOn: false, operationalStatus: 'servicing' } }),
    script: { power: false },
    around: { hasServicingSpec: true },
    found: ['', 'saved', 'wait 60000 Servicing'],
    calls: 'register adopt service',
  },
  {
    title: 'a host that is powered on stays as it is, whatever firmware is waiting',
    host: hostIn('provisioned', deployed),
    script: { power: true },
    around: { hasServicing: true },
    found: ['', 'unsaved', poll],
    calls: 'register adopt',
  },
];
