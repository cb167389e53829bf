import { controllerOf } from '@metal/kube/kinds/kind.ts';
import type { ServerMaintenance } from '../v1alpha1/server-maintenance.ts';
import type { Server } from '../v1alpha1/server.ts';
import { updateLabel } from './contract.ts';

/** A maintenance has the server, or had it a moment ago: it is out of the pool. */
export const isInWindow = ({ spec, status }: Server): boolean =>
  spec.serverMaintenanceRef !== undefined || status?.state === 'Maintenance';

/** An update created it, and turns the machine off and on. The machine boots nothing of the boot service. */
export const isOfUpdate = (maintenance: ServerMaintenance): boolean =>
  maintenance.metadata.labels?.[updateLabel] !== undefined &&
  maintenance.spec.serverBootConfigurationTemplate === undefined &&
  controllerOf(maintenance) !== undefined;
