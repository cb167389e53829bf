import type { Controller } from '@metal/kube/controller/definition.ts';
import type { Metal3Context } from './context.ts';
import { hostController } from './controllers/baremetalhost/controller.ts';
import { firmwareComponentsController } from './controllers/hostfirmwarecomponents/controller.ts';
import { firmwareSettingsController } from './controllers/hostfirmwaresettings/controller.ts';

/** The controllers of Metal3. To add one, add a line. */
export const metal3Controllers: readonly Controller<Metal3Context>[] = [
  hostController,
  firmwareSettingsController,
  firmwareComponentsController,
];
