import { bootErrorCatalogue } from '@metal/boot/errors.ts';
import { dhcpErrorCatalogue } from '@metal/dhcp/errors.ts';
import { kubeErrorCatalogue, runtimeErrorCatalogue } from '@metal/kube/errors.ts';
import { metal3ErrorCatalogue } from '@metal/metal3/errors.ts';
import { operatorErrorCatalogue } from '@metal/operator/errors.ts';
import { probeErrorCatalogue } from '@metal/probe/errors.ts';
import { redfishErrorCatalogue } from '@metal/redfish/errors.ts';
import type { ErrorChapter } from './error-page.ts';

/** Every catalogue of errors. To add one, add a line. */
export const errorChapters: readonly ErrorChapter[] = [
  { title: 'BMC', catalogue: redfishErrorCatalogue },
  { title: 'Operator', catalogue: { ...operatorErrorCatalogue, ...runtimeErrorCatalogue } },
  { title: 'Metal3', catalogue: metal3ErrorCatalogue },
  { title: 'Kubernetes API', catalogue: kubeErrorCatalogue },
  { title: 'Boot service', catalogue: bootErrorCatalogue },
  { title: 'DHCP', catalogue: dhcpErrorCatalogue },
  { title: 'Probe', catalogue: probeErrorCatalogue },
];
