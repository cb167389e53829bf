import type { Controller } from '@metal/kube/controller.ts';
import { bootConfigurationController } from './boot/server-boot-configuration/controller.ts';
import { claimController } from './claim/server-claim/controller.ts';
import type { OperatorConfig } from './config.ts';
import type { OperatorContext } from './context.ts';
import { bmcController } from './discover/bmc/controller.ts';
import { bmcDnsController } from './discover/bmc-dns/controller.ts';
import { bmcEventsController } from './discover/bmc-events/controller.ts';
import { bmcSecretController } from './discover/bmc-secret/controller.ts';
import { bmcUserController } from './discover/bmc-user/controller.ts';
import { endpointController } from './discover/endpoint/controller.ts';
import { cleanupAdmissionController } from './inventory/cleanup-admission/controller.ts';
import { readinessRuleController } from './inventory/readiness-rule/controller.ts';
import { readinessTaintsController } from './inventory/readiness-taints/controller.ts';
import { serverController } from './inventory/server/controller.ts';

/** Everything that runs. */
export const controllers = [
  endpointController,
  bmcController,
  bmcEventsController,
  bmcDnsController,
  bmcSecretController,
  bmcUserController,
  serverController,
  claimController,
  bootConfigurationController,
  readinessRuleController,
  readinessTaintsController,
  cleanupAdmissionController,
] as const;

/** What runs in a process, or in all replicas together. */
export const controllersFor = ({ shards }: Pick<OperatorConfig, 'shards'>): readonly Controller<OperatorContext>[] =>
  shards === 'auto' ? controllers : controllers.filter((one) => one !== cleanupAdmissionController);
