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
import { cleanupAdmissionController } from './controllers/cleanupadmission/controller.ts';
import { readinessRuleController } from './controllers/serverreadinessrule/controller.ts';
import { readinessTaintsController } from './controllers/serverreadinesstaints/controller.ts';
import { serverController } from './controllers/server/controller.ts';

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
  readinessRuleController,
  readinessTaintsController,
  cleanupAdmissionController,
] as const;

/** The controllers for a configuration: without shards, no leader admits cleanups for other replicas. */
export const controllersFor = ({ shards }: Pick<OperatorConfig, 'shards'>): readonly Controller<OperatorContext>[] =>
  shards === 'auto' ? controllers : controllers.filter((one) => one !== cleanupAdmissionController);
