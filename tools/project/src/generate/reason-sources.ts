import { bootServiceReasons } from '@metal/boot/reasons.ts';
import { controllers } from '@metal/operator/controllers.ts';
import { metal3Controllers } from '@metal/metal3/controllers.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ReasonSource } from './reason-page.ts';

/** The controllers, and the services that write conditions. */
export const reasonSources: readonly ReasonSource[] = [
  ...controllers,
  ...metal3Controllers,
  { name: 'boot service', kind: ServerBootConfiguration, reasons: bootServiceReasons },
];
