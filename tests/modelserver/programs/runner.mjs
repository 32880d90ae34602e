// The vendor's JavaScript SDK, as its documentation uses it: the tool runner, plain and streaming, and the rest.
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';

const client = new Anthropic({ baseURL: process.env.MODEL_SERVER, apiKey: 'any', maxRetries: 0 });
const model = 'claude-opus-5-5';
const max_tokens = 1000;
const hello = [{ role: 'user', content: 'Hello' }];
const ran = [];
const tools = [
  betaZodTool({
    name: 'get_weather',
    description: 'The weather in a place.',
    inputSchema: z.object({ location: z.string() }),
    run: ({ location }) => { ran.push(location); return 'sunny'; },
  }),
  betaZodTool({
    name: 'get_time',
    description: 'The time in a zone.',
    inputSchema: z.object({ zone: z.string().optional() }),
    run: ({ zone }) => { ran.push(zone); return '12:00'; },
  }),
];
const question = { model, max_tokens, system: 'Be brief.', tools, messages: [{ role: 'user', content: 'What weather?' }] };
const told = {};

const kinds = [];
for await (const message of client.beta.messages.toolRunner(question)) kinds.push(message.content.map((block) => block.type));
told.runner = kinds;

const last = [];
for await (const stream of client.beta.messages.toolRunner({ ...question, stream: true })) {
  last.push((await stream.finalMessage()).content.at(-1).type);
}
told.streaming_runner = last;
told.ran = ran;

const pieces = [];
const stream = client.messages.stream({ model, max_tokens, messages: hello }).on('text', (piece) => pieces.push(piece));
const whole = await stream.finalMessage();
told.stream = [pieces.join(''), whole.stop_reason];

const person = z.object({ name: z.string(), age: z.number() });
const shaped = { model, max_tokens, messages: [{ role: 'user', content: 'As JSON' }], output_config: { format: zodOutputFormat(person) } };
told.parsed = (await client.messages.parse(shaped)).parsed_output;

told.counted = (await client.messages.countTokens({ model, messages: hello })).input_tokens;
told.model = (await client.models.retrieve(model)).display_name;
try {
  await client.messages.create({ model: 'nobody', max_tokens, messages: hello });
} catch (error) {
  told.refused = [error.constructor.name, error.status];
}
console.log(JSON.stringify(told));
