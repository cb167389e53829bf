import type { Controller } from '@metal/kube/controller/definition.ts';
import { bootConfigurationController } from './controllers/serverbootconfiguration/controller.ts';
import { claimController } from './controllers/serverclaim/controller.ts';
import type { OperatorConfig } from './options.ts';
import type { OperatorContext } from './controllers/context.ts';
import { bmcController } from './controllers/bmc/lifecycle/controller.ts';
import { bmcDnsController } from './controllers/bmc/dns/controller.ts';
import { bmcEventsController } from './controllers/bmc/events/controller.ts';
import { bmcSecretController } from './controllers/bmcsecret/controller.ts';
import { bmcUserController } from './controllers/bmcuser/controller.ts';
import { endpointController } from './controllers/endpoint/controller.ts';
import { biosVersionController } from './controllers/biosversion/controller.ts';
import { biosSettingsController } from './controllers/biossettings/controller.ts';
import { bmcSettingsController } from './controllers/bmcsettings/controller.ts';
import { bmcVersionController } from './controllers/bmcversion/controller.ts';
import { firmwareVersionController } from './controllers/firmwareversion/controller.ts';
import { cleanupAdmissionController } from './controllers/cleanupadmission/controller.ts';
import { maintenanceController } from './controllers/servermaintenance/controller.ts';
import { inventoryController } from './controllers/serverinventory/controller.ts';
import { readinessRuleController } from './controllers/serverreadinessrule/controller.ts';
import { readinessTaintsController } from './controllers/serverreadinesstaints/controller.ts';
import { serverController } from './controllers/server/controller.ts';
import { complianceController } from './controllers/servercompliance/controller.ts';
import { setControllers } from './controllers/sets/controller.ts';

/** All controllers. */
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
  maintenanceController,
  readinessRuleController,
  readinessTaintsController,
  biosSettingsController,
  biosVersionController,
  bmcSettingsController,
  bmcVersionController,
  firmwareVersionController,
  inventoryController,
  cleanupAdmissionController,
  ...setControllers,
  complianceController,
] as const;

/** The controllers for a configuration: without shards, no leader admits cleanups for other replicas. */
export const controllersFor = ({ shards }: Pick<OperatorConfig, 'shards'>): readonly Controller<OperatorContext>[] =>
  shards === 'auto' ? controllers : controllers.filter((one) => one !== cleanupAdmissionController);
