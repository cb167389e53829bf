import { OperatorError } from '@metal/kube/errors.ts';

/** A template that cannot be parsed or rendered. The message names line and construct. */
export class TemplateError extends OperatorError {
  constructor(line: number, problem: string) {
    super({ code: 'TemplateFailed', message: `line ${line}: ${problem}`, retry: 'blocked' });
  }
}
