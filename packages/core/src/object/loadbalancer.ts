import { z } from 'zod';

/** A protocol of a load balancer: any case on input, upper case from then on (EI §3.4). */
export const Protocol = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(['HTTP', 'HTTPS', 'TCP', 'SSL', 'UDP']));
export type Protocol = z.infer<typeof Protocol>;

const Port = z.number().int().min(1).max(65535);

/** One listener of a load balancer and where it leads (EI §3.4). */
export const Route = z
  .strictObject({
    Port,
    Protocol,
    LoadBalancerPort: Port,
    LoadBalancerProtocol: Protocol,
    Certificate: z.string().nullable().default(null),
    HealthMonitorPath: z.string().nullable().default(null),
  })
  .refine((route) => route.LoadBalancerProtocol !== 'HTTPS' || route.Certificate !== null, {
    error: 'HTTPS but no certificate',
    path: ['Certificate'],
  });
export type Route = z.infer<typeof Route>;

/** A health check of a backend port. `Interval` and `Timeout` are nanoseconds on the wire (EI §3.5). */
export const HealthCheck = z.strictObject({
  BackendPort: Port,
  Healthy: z.number().int().min(1),
  Unhealthy: z.number().int().min(1),
  Interval: z.number().min(1),
  Timeout: z.number().min(1),
});
export type HealthCheck = z.infer<typeof HealthCheck>;
