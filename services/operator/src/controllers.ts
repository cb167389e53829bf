import { bootConfigurationController } from './boot/server-boot-configuration/controller.ts';
import { claimController } from './claim/server-claim/controller.ts';
import { bmcController } from './discover/bmc/controller.ts';
import { bmcDnsController } from './discover/bmc-dns/controller.ts';
import { bmcEventsController } from './discover/bmc-events/controller.ts';
import { bmcSecretController } from './discover/bmc-secret/controller.ts';
import { bmcUserController } from './discover/bmc-user/controller.ts';
import { endpointController } from './discover/endpoint/controller.ts';
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
] as const;
