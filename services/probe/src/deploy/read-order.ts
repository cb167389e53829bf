import { type DeploymentOrder, deploymentOrder, deploymentOrderFile } from '@metal/api/wire/deployment.ts';
import { parseOrder } from '../erase/read-order.ts';

/** Parses the order in the ignition file. @throws ProbeError `OrderInvalid` */
export const readDeploymentOrder = (text: string): DeploymentOrder =>
  parseOrder(text, deploymentOrder, { file: deploymentOrderFile, name: 'deployment order' });
