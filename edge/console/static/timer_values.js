// Dates, durations and cycles of timers in ISO 8601, as the server parses them.
//
// Each function gives what is wrong with a text, undefined if nothing is. Names of time zones and cron expressions are left to the
// server.

import { LEFT } from "markup";

const MAX_LENGTH = 200;
const MAX_DATE_LENGTH = 100;
const MAX_REPETITIONS = 2 ** 31 - 1;
const SHORTEST_INTERVAL = 1000;
const MOST_DAYS = 999_999_999;
const MAX_OFFSET_HOURS = 18;
const END_OF_DAY = 24;
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const [FIRST_INSTANT, LAST_INSTANT] = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"].map(Date.parse);

const DATE =
  /^(-?(?:\d{4}|[1-9]\d{4,8}))-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:@([^@[\]]+)|(Z|[+-]\d\d:\d\d(?::\d\d)?)(?:\[([^@[\]]+)\])?)?$/;
const OFFSET = /^[+-](\d\d):([0-5]\d)(?::([0-5]\d))?$/;
const DURATION =
  /^([+-]?)P(?=.)(?:([+-]?\d+)Y)?(?:([+-]?\d+)M)?(?:([+-]?\d+)W)?(?:([+-]?\d+)D)?(?:T(?=.)(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:([+-]?\d+(?:[.,]\d{0,9})?)S)?)?$/i;
const REPETITIONS = /^R(\d*)$/;

const long = (text) => {
  const { length } = [...text];
  return length > MAX_LENGTH ? `expected at most ${MAX_LENGTH} characters, found ${length}` : undefined;
};

const isDay = (year, month, day) => {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
};
const isTime = (hour, minute, second, fraction) => {
  if (hour === END_OF_DAY) return minute === 0 && second === 0 && !Number(fraction);
  return hour < END_OF_DAY && minute < 60 && second < 60;
};
const isOffset = (text) => {
  if (text === "Z") return true;
  const [, hours, minutes, seconds = 0] = OFFSET.exec(text) ?? [];
  return hours !== undefined && (hours * 60 + Number(minutes)) * 60 + Number(seconds) <= MAX_OFFSET_HOURS * 3600;
};

const date = (text) => {
  const wrong = `expected a date and time with an offset, found '${text}'`;
  const match = [...text].length <= MAX_DATE_LENGTH && DATE.exec(text);
  if (!match) return long(text) ?? wrong;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const [fraction = 0, name, offset, region] = match.slice(7);
  if (!isDay(year, month, day) || !isTime(hour, minute, second, fraction)) return wrong;
  if (name) return LEFT;
  if (!offset || !isOffset(offset)) return wrong;
  return region && LEFT;
};

// A number of calendar months, and milliseconds after them; or what is wrong.
const interval = (text) => {
  const match = DURATION.exec(text);
  if (!match) return { wrong: long(text) ?? `expected a duration, found '${text}'` };
  const sign = match[1] === "-" ? -1 : 1;
  const [years, months, weeks, days, hours, minutes, seconds] = match.slice(2).map((part = "0") => Number(part.replace(",", ".")));
  const time = (weeks * 7 + days) * DAY + hours * HOUR + minutes * MINUTE + Math.round(seconds * 1e6) / 1e6 * SECOND;
  const isShort = Math.floor(time / DAY) <= MOST_DAYS && Math.floor(time / DAY) >= -MOST_DAYS;
  const wrong = long(text) ?? (isShort ? undefined : `expected a shorter duration, found '${text}'`);
  return { wrong, months: sign * (years * 12 + months), time: sign * time };
};

const isLongEnough = ({ months, time }) => {
  const year = 1970 + Math.floor(months / 12);
  const month = ((months % 12) + 12) % 12;
  const isPast = months < 0 || time < 0;
  if (year < 1 || year > 9999) return !isPast;
  const instant = new Date(0).setUTCFullYear(year, month, 1) + time;
  return instant < FIRST_INSTANT || instant > LAST_INSTANT ? !isPast : instant >= SHORTEST_INTERVAL;
};

const duration = (text) => interval(text).wrong;

const cycle = (text) => {
  const tooLong = long(text);
  if (tooLong) return tooLong;
  if (text.startsWith("@") || text.split(/\s+/).filter(Boolean).length > 1) return LEFT;
  const [repetitions, ...rest] = text.split("/");
  const [each, ...start] = rest.reverse();
  const match = REPETITIONS.exec(repetitions);
  if (!match || each === undefined || start.length > 1) return `expected a cycle such as R3/PT10S, found '${text}'`;
  const count = match[1] ? BigInt(match[1]) : 1n;
  if (count < 1n || count > BigInt(MAX_REPETITIONS)) return `expected 1 to ${MAX_REPETITIONS} repetitions, found ${count}`;
  const found = interval(each);
  if (found.wrong) return found.wrong;
  if (!isLongEnough(found)) return `expected an interval of at least 1 s, found '${each}'`;
  return start[0] ? date(start[0]) : undefined;
};

export const reasonOf = { date, duration, cycle };
