import { describe, expect, test } from 'vitest';
import { bytesOf, parseContainer } from './container-properties.ts';
import { createOptions } from './create-options.ts';
import { labelsOf, marksOf, nameOf } from './labels.ts';

describe('the properties of a container', () => {
  test('become what the engine is asked for', () => {
    const properties = parseContainer({
      Image: 'web:1',
      Command: ['/bin/httpd', '-f'],
      Env: { A: '1' },
      Ports: [{ ContainerPort: 8080 }],
      Mounts: [{ Type: 'bind', Source: '/srv', Target: '/data', ReadOnly: true }],
      Resources: { Memory: '64m', CPUs: 0.5 },
      HealthCheck: { Test: ['CMD', 'true'], Interval: '5s' },
      StopTimeout: '1m',
    });
    expect(createOptions(properties, { name: 'n', labels: { x: 'y' }, init: 'echo hi' })).toMatchObject({
      name: 'n',
      Image: 'web:1',
      Cmd: ['/bin/httpd', '-f'],
      Env: ['A=1', 'INFRAKIT_INIT=echo hi'],
      Labels: { x: 'y' },
      StopTimeout: 60,
      Healthcheck: { Interval: 5e9, Retries: 3 },
      HostConfig: {
        AutoRemove: true,
        PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
        Mounts: [{ Type: 'bind', Source: '/srv', Target: '/data', ReadOnly: true }],
        Memory: 67_108_864,
        NanoCpus: 5e8,
      },
    });
  });

  test('are refused with all their faults at once, each with its path and what to do (issue 7)', () => {
    const faults = {
      Image: 5,
      Portz: [],
      Ports: [{ ContainerPort: '80', HostPort: 'any' }],
      Registry: { Username: 'robot', Password: 'secret' },
      Resources: { Memory: 'much' },
      RestartPolicy: 'alway',
    };
    expect(() => parseContainer(faults)).toThrow(
      expect.objectContaining({
        code: 'INSTANCE_INVALID',
        facts: {
          faults: [
            'Image: expected a string, found the number 5: quote it, "5"',
            'Portz: unknown field, did you mean `Ports`?',
            'Ports[0].ContainerPort: expected a number, found "80": remove the quotes',
            'Ports[0].HostPort: expected a number, found "any"',
            'Registry.Password: must be file:<path> or env:<name>, not the secret itself',
            'Resources.Memory: must be a size such as 512m or 2g',
            'RestartPolicy: expected one of `no`, `always`, `on-failure`, `unless-stopped`, found "alway", did you mean `always`?',
          ],
        },
      }),
    );
  });

  test('a container that restarts by itself is not removed when it ends', () => {
    const properties = parseContainer({ Image: 'web:1', RestartPolicy: 'always' });
    expect(createOptions(properties, { name: 'n', labels: {}, init: '' }).HostConfig).toMatchObject({
      AutoRemove: false,
      RestartPolicy: { Name: 'always' },
    });
  });

  test.each([
    ['512', 512],
    ['64k', 65_536],
    ['1.5g', 1_610_612_736],
    ['2MB', 2_097_152],
  ])('%s is %d bytes', (text, bytes) => {
    expect(bytesOf(text)).toBe(bytes);
  });
});

describe('the labels of a container', () => {
  const marks = {
    endpoint: 'docker',
    tags: { 'infrakit.group': 'web', 'a=b%': 'c=d' },
    logicalId: '10.0.0.3',
    key: 'k1',
    properties: { Image: 'web:1' },
  };

  test('say all that it was made for, also tags with signs that engines split labels at', () => {
    const labels = labelsOf(marks);
    expect(Object.keys(labels).some((name) => name.includes('='))).toBe(false);
    expect(marksOf(labels, 'docker')).toEqual(marks);
  });

  test('of another endpoint, or of nobody, are not ours', () => {
    expect(marksOf(labelsOf(marks), 'other')).toBeUndefined();
    expect(marksOf({}, 'docker')).toBeUndefined();
  });

  test('Law 7: one key gives one name, in any process', () => {
    expect(nameOf('docker', 'k1')).toBe(nameOf('docker', 'k1'));
    expect(nameOf('docker', 'k1')).not.toBe(nameOf('other', 'k1'));
  });
});
