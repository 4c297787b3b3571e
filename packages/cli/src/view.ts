import { AppError } from '@infrakit/core';

/** A template applied to one value after the other; missing keys are empty. */
export const viewOf = async (template: string): Promise<(data: unknown) => string> => {
  const { compile, TemplateError } = await import('@infrakit/template');
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      throw new AppError('SPEC_TEMPLATE', `the view does not render: ${error.message}`, { cause: error });
    }
  };
  const compiled = guarded(() => compile(template, { missingKey: 'default', name: 'view' }));
  return (data) => guarded(() => compiled.render(data));
};
