// Answers for feel-scala: a line in, a line of JSON out.
//
// In: the text, the variables as a FEEL context and, for unary tests, the input as FEEL; each in Base64, with a
// blank in between. Out: {"value": …} or {"error": "parse" | "evaluation"}. Numbers are strings in {"$": "number"}
// and so on for what JSON does not have; a context is {"$": "context", "entries": {…}}.

import camundajar.impl.scala.Function1;
import camundajar.impl.scala.Option;
import camundajar.impl.scala.Tuple2;
import camundajar.impl.scala.collection.Iterator;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalTime;
import java.time.Period;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.camunda.feel.api.EvaluationResult;
import org.camunda.feel.api.FeelEngineApi;
import org.camunda.feel.api.FeelEngineBuilder;
import org.camunda.feel.api.ParseResult;
import org.camunda.feel.syntaxtree.RangeBoundary;
import org.camunda.feel.syntaxtree.Val;
import org.camunda.feel.syntaxtree.ValBoolean;
import org.camunda.feel.syntaxtree.ValContext;
import org.camunda.feel.syntaxtree.ValDate;
import org.camunda.feel.syntaxtree.ValDateTime;
import org.camunda.feel.syntaxtree.ValDayTimeDuration;
import org.camunda.feel.syntaxtree.ValFunction;
import org.camunda.feel.syntaxtree.ValList;
import org.camunda.feel.syntaxtree.ValLocalDateTime;
import org.camunda.feel.syntaxtree.ValLocalTime;
import org.camunda.feel.syntaxtree.ValNull$;
import org.camunda.feel.syntaxtree.ValNumber;
import org.camunda.feel.syntaxtree.ValRange;
import org.camunda.feel.syntaxtree.ValString;
import org.camunda.feel.syntaxtree.ValTime;
import org.camunda.feel.syntaxtree.ValYearMonthDuration;
import org.camunda.feel.syntaxtree.ZonedTime;
import org.camunda.feel.valuemapper.CustomValueMapper;

public final class Asked {
  // Values leave the engine as they are within it: with all digits and their own types.
  private static final class AsTheyAre implements CustomValueMapper {
    public void org$camunda$feel$valuemapper$CustomValueMapper$_setter_$priority_$eq(int priority) {}

    public Option<Val> toVal(Object value, Function1<Object, Val> inner) {
      return value instanceof Val val ? Option.apply(val) : Option.empty();
    }

    public Option<Object> unpackVal(Val value, Function1<Val, Object> inner) {
      return Option.apply(value);
    }

    public int priority() {
      return 100;
    }
  }

  private static final class NoForm extends RuntimeException {
    NoForm(String message) {
      super(message);
    }
  }

  private static final FeelEngineApi ENGINE =
      FeelEngineBuilder.create()
          .withCustomValueMapper(new AsTheyAre())
          .withClock(() -> ZonedDateTime.of(2026, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC))
          .build();
  private static final Map<String, Map<String, Object>> CONTEXTS = new HashMap<>();

  public static void main(String[] arguments) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      answers.println(answer(line.split(" ", -1)));
      if (!lines.ready()) answers.flush();
    }
  }

  private static String answer(String[] fields) {
    String text = decoded(fields[0]);
    try {
      boolean isTest = fields.length > 2;
      ParseResult parsed = isTest ? ENGINE.parseUnaryTests(text) : ENGINE.parseExpression(text);
      if (!parsed.isSuccess()) return "{\"error\":\"parse\"}";
      Map<String, Object> variables = variables(decoded(fields[1]));
      EvaluationResult result =
          isTest
              ? ENGINE.evaluateWithInput(parsed.parsedExpression(), value(decoded(fields[2])), variables)
              : ENGINE.evaluate(parsed.parsedExpression(), variables);
      if (!result.isSuccess()) return "{\"error\":\"evaluation\"}";
      var json = new StringBuilder("{\"value\":");
      write(json, result.result());
      return json.append('}').toString();
    } catch (NoForm error) {
      return "{\"error\":" + quoted(error.getMessage()) + "}";
    } catch (Exception | StackOverflowError error) {
      return "{\"error\":\"evaluation\"}";
    }
  }

  private static String decoded(String field) {
    return new String(Base64.getDecoder().decode(field), StandardCharsets.UTF_8);
  }

  private static Object value(String text) {
    EvaluationResult result = ENGINE.evaluateExpression(text, Map.<String, Object>of());
    if (!result.isSuccess()) throw new NoForm("no value: " + text);
    return result.result();
  }

  private static Map<String, Object> variables(String text) {
    if (CONTEXTS.size() > 1000) CONTEXTS.clear();
    return CONTEXTS.computeIfAbsent(text, each -> new HashMap<>(entries((ValContext) value(each))));
  }

  private static Map<String, Object> entries(ValContext context) {
    var found = new TreeMap<String, Object>();
    var variables = context.context().variableProvider().getVariables();
    for (Iterator<Tuple2<String, Object>> each = variables.iterator(); each.hasNext(); ) {
      Tuple2<String, Object> entry = each.next();
      found.put(entry._1(), entry._2());
    }
    return found;
  }

  private static void write(StringBuilder json, Object value) {
    if (value == null || value instanceof ValNull$) json.append("null");
    else if (value instanceof ValBoolean each) json.append(each.value());
    else if (value instanceof Boolean each) json.append(each);
    else if (value instanceof ValString each) json.append(quoted(each.value()));
    else if (value instanceof ValNumber each) tagged(json, "number", plain(each.value().bigDecimal()));
    else if (value instanceof ValDate each) tagged(json, "date", each.value().toString());
    else if (value instanceof ValLocalTime each) tagged(json, "time", written(each.value(), ""));
    else if (value instanceof ValTime each) tagged(json, "time", written(each.value()));
    else if (value instanceof ValLocalDateTime each)
      tagged(json, "date and time", each.value().toLocalDate() + "T" + written(each.value().toLocalTime(), ""));
    else if (value instanceof ValDateTime each) tagged(json, "date and time", written(each.value()));
    else if (value instanceof ValDayTimeDuration each) tagged(json, "days", written(each.value()));
    else if (value instanceof ValYearMonthDuration each) tagged(json, "months", written(each.value()));
    else if (value instanceof ValFunction) tagged(json, "function", "");
    else if (value instanceof ValRange each) range(json, each);
    else if (value instanceof ValList each) list(json, each);
    else if (value instanceof ValContext each) context(json, each);
    else throw new NoForm("no form: " + value.getClass().getName());
  }

  private static void tagged(StringBuilder json, String kind, String text) {
    json.append("{\"$\":").append(quoted(kind)).append(",\"text\":").append(quoted(text)).append('}');
  }

  private static String plain(BigDecimal number) {
    return number.signum() == 0 ? "0" : number.stripTrailingZeros().toString();
  }

  private static String written(LocalTime time, String offset) {
    return time.toSecondOfDay() + " " + time.getNano() + offset;
  }

  private static String written(ZonedTime time) {
    String zone = time.zone().isDefined() ? " " + time.zone().get().getId() : "";
    return written(time.time(), " " + time.offset().getTotalSeconds() + zone);
  }

  private static String written(ZonedDateTime time) {
    String zone = time.getZone() instanceof ZoneOffset ? "" : " " + time.getZone().getId();
    String offset = " " + time.getOffset().getTotalSeconds() + zone;
    return time.toLocalDate() + "T" + written(time.toLocalTime(), offset);
  }

  private static String written(Duration duration) {
    return BigDecimal.valueOf(duration.getSeconds())
        .scaleByPowerOfTen(9)
        .add(BigDecimal.valueOf(duration.getNano()))
        .toPlainString();
  }

  private static String written(Period period) {
    String days = period.getDays() == 0 ? "" : " " + period.getDays();
    return period.toTotalMonths() + days;
  }

  private static void range(StringBuilder json, ValRange range) {
    json.append("{\"$\":\"range\",\"start\":");
    boundary(json, range.start());
    json.append(",\"end\":");
    boundary(json, range.end());
    json.append('}');
  }

  private static void boundary(StringBuilder json, RangeBoundary boundary) {
    json.append('[');
    write(json, boundary.value());
    json.append(',').append(boundary.isClosed()).append(']');
  }

  private static void list(StringBuilder json, ValList list) {
    String before = "[";
    for (var each = list.items().iterator(); each.hasNext(); before = ",") {
      json.append(before);
      write(json, each.next());
    }
    json.append(before.equals("[") ? "[]" : "]");
  }

  private static void context(StringBuilder json, ValContext context) {
    String before = "{\"$\":\"context\",\"entries\":{";
    json.append(before);
    before = "";
    for (Map.Entry<String, Object> each : entries(context).entrySet()) {
      json.append(before).append(quoted(each.getKey())).append(':');
      write(json, each.getValue());
      before = ",";
    }
    json.append("}}");
  }

  private static String quoted(String text) {
    var json = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      if (each < ' ' || each == '"' || each == '\\' || each > '~') json.append(String.format("\\u%04x", (int) each));
      else json.append(each);
    }
    return json.append('"').toString();
  }
}
