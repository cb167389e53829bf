import { bootServiceReasons } from '@metal/boot/reasons.ts';
import { controllers } from '@metal/operator/controllers.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Explaining } from './reason-page.ts';

/** Everybody who gives reasons: the controllers, and the services that write conditions. */
export const explaining: readonly Explaining[] = [
  ...controllers,
  { name: 'boot service', kind: ServerBootConfiguration, reasons: bootServiceReasons },
];
