import type { Controller } from '@metal/kube/controller/definition.ts';
import type { Metal3Context } from './context.ts';
import { hostController } from './controllers/baremetalhost/controller.ts';
import { eventSubscriptionController } from './controllers/bmceventsubscription/controller.ts';
import { dataImageController } from './controllers/dataimage/controller.ts';
import { firmwareComponentsController } from './controllers/hostfirmwarecomponents/controller.ts';
import { firmwareSettingsController } from './controllers/hostfirmwaresettings/controller.ts';
import { hasDeployImages } from './controllers/preprovisioningimage/built-image.ts';
import { imageController } from './controllers/preprovisioningimage/controller.ts';
import type { Metal3Config } from './options.ts';

/** The controllers of Metal3. To add one, add a line. */
export const metal3Controllers: readonly Controller<Metal3Context>[] = [
  hostController,
  firmwareSettingsController,
  firmwareComponentsController,
  imageController,
  eventSubscriptionController,
  dataImageController,
];

/** The controllers for a configuration: without a ramdisk of the operator, another program builds the PreprovisioningImages. */
export const controllersFor = (
  config: Pick<Metal3Config, 'buildsPreprovisioningImages' | 'deployImages'>,
): readonly Controller<Metal3Context>[] =>
  config.buildsPreprovisioningImages && hasDeployImages(config.deployImages)
    ? metal3Controllers
    : metal3Controllers.filter((one) => one !== imageController);
