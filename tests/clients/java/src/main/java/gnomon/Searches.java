package gnomon;

import static gnomon.Checks.same;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.search.enums.ElementInstanceState;
import io.camunda.client.api.search.enums.ElementInstanceType;
import io.camunda.client.api.search.enums.IncidentErrorType;
import io.camunda.client.api.search.enums.IncidentState;
import io.camunda.client.api.search.enums.JobKind;
import io.camunda.client.api.search.enums.JobState;
import io.camunda.client.api.search.enums.ProcessInstanceState;
import io.camunda.client.api.search.filter.ProcessInstanceFilter;
import io.camunda.client.api.search.filter.ProcessInstanceFilterBase;
import io.camunda.client.api.search.response.ProcessInstance;
import io.camunda.client.api.search.response.SearchResponse;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Filters, orders and pages, as users of the client write them. One declined order has been mended by now. */
final class Searches {
  private static final int OPEN = Orders.DECLINED - 1;

  private final CamundaClient client;
  private final Checks checks;
  private final Orders orders;

  Searches(final CamundaClient client, final Checks checks, final Orders orders) {
    this.client = client;
    this.checks = checks;
    this.orders = orders;
  }

  void run() {
    processInstances();
    relatedRows();
    alternatives();
    pages();
    others();
  }

  private void processInstances() {
    finds("a state", OPEN, f -> f.state(ProcessInstanceState.ACTIVE));
    finds("one of some states", Orders.NUMBER,
        f -> f.state(s -> s.in(ProcessInstanceState.ACTIVE, ProcessInstanceState.COMPLETED)));
    finds("one of some keys", 3, f -> f.processInstanceKey(k -> k.in(orders.keys.subList(0, 3))));
    finds("none of some keys", Orders.NUMBER - 3, f -> f.processInstanceKey(k -> k.notIn(orders.keys.subList(0, 3))));
    finds("a business id", 1, f -> f.businessId("java-7"));
    finds("a business id like a pattern", 10, f -> f.businessId(b -> b.like("java-1?")));
    finds("one of some business ids", 2, f -> f.businessId(b -> b.in("java-1", "java-2", "java-99")));
    finds("no end", OPEN, f -> f.endDate(d -> d.exists(false)));
    finds("a start after a date", Orders.NUMBER, f -> f.startDate(d -> d.gt(orders.begin)));
    finds("a start before a date", 0, f -> f.startDate(d -> d.lt(orders.begin)));
    finds("an end between dates", Orders.NUMBER - OPEN,
        f -> f.endDate(d -> d.gte(orders.begin).lte(OffsetDateTime.now().plusMinutes(1))));
    finds("a version", Orders.NUMBER, f -> f.processDefinitionVersion(v -> v.gte(1).lt(2)));
    finds("a definition", Orders.NUMBER, f -> f.processDefinitionKey(orders.definitionKey()));
    finds("no parent", Orders.NUMBER, f -> f.parentProcessInstanceKey(k -> k.exists(false)));
    finds("an incident", OPEN, f -> f.hasIncident(true));
    finds("the default tenant", Orders.NUMBER, f -> f.tenantId("default"));
  }

  private void relatedRows() {
    finds("a variable's value", 1, f -> f.variables(Map.of("number", 7)));
    finds("the values of two variables", 1, f -> f.variables(Map.of("number", 8, "priority", "\"express\"")));
    finds("a variable like a pattern", 25,
        f -> f.variables(List.of(v -> v.name("priority").value(x -> x.like("*express*")))));
    finds("a variable with one of some values", 3,
        f -> f.variables(List.of(v -> v.name("number").value(x -> x.in("1", "2", "3")))));
    finds("a variable with any value", Orders.NUMBER - Orders.OUT_OF_STOCK - OPEN,
        f -> f.variables(List.of(v -> v.name("payment").value(x -> x.exists(true)))));
    finds("an element", Orders.OUT_OF_STOCK, f -> f.elementId("tell-customer"));
    finds("an active element", OPEN,
        f -> f.elementId("charge-card").elementInstanceState(ElementInstanceState.ACTIVE));
    finds("an element with an incident", OPEN, f -> f.elementId("charge-card").hasElementInstanceIncident(true));
    finds("an incident's message", OPEN, f -> f.errorMessage("card declined"));
    finds("an incident's message like a pattern", OPEN, f -> f.errorMessage(m -> m.like("*declined*")));
    finds("no failed job with retries left", Orders.NUMBER, f -> f.hasRetriesLeft(false));
  }

  private void alternatives() {
    finds("one of two alternatives", OPEN + 1,
        f -> f.orFilters(List.<Consumer<ProcessInstanceFilterBase>>of(
            a -> a.hasIncident(true), a -> a.businessId("java-7"))));
    finds("alternatives with related rows", Orders.OUT_OF_STOCK + 1,
        f -> f.orFilters(List.<Consumer<ProcessInstanceFilterBase>>of(
            a -> a.elementId("tell-customer"), a -> a.variables(Map.of("number", 7)))));
    finds("alternatives beside a field", 1,
        f -> f.businessId("java-7").orFilters(List.<Consumer<ProcessInstanceFilterBase>>of(
            a -> a.state(ProcessInstanceState.COMPLETED), a -> a.state(ProcessInstanceState.ACTIVE))));
  }

  /** Checks how many of the fifty orders a search finds. */
  private void finds(final String name, final long expected, final Consumer<ProcessInstanceFilter> wanted) {
    checks.check("process instances by " + name, () -> {
      final SearchResponse<ProcessInstance> found =
          client.newProcessInstanceSearchRequest().filter(f -> {
            wanted.accept(f);
            f.tags("java");
          }).send().join();
      same(expected, found.page().totalItems());
      same(expected, (long) found.items().size());
    });
  }

  private void pages() {
    checks.check("a sorted search is read page by page", () -> {
      final List<ProcessInstance> found = new ArrayList<>();
      SearchResponse<ProcessInstance> page = page(null, null);
      while (!page.items().isEmpty()) {
        found.addAll(page.items());
        page = page(page.page().endCursor(), null);
      }
      final List<ProcessInstance> expected = new ArrayList<>(found);
      expected.sort(Comparator.comparing(ProcessInstance::getStartDate).reversed());
      same(expected, found);
      same(Set.copyOf(orders.keys), Set.copyOf(found.stream().map(ProcessInstance::getProcessInstanceKey).toList()));
    });
    checks.check("a page before another is read", () -> {
      final SearchResponse<ProcessInstance> first = page(null, null);
      final SearchResponse<ProcessInstance> second = page(first.page().endCursor(), null);
      final SearchResponse<ProcessInstance> before = page(null, second.page().startCursor());
      same(first.items().get(0).getProcessInstanceKey(), before.items().get(0).getProcessInstanceKey());
    });
    checks.check("a page from an offset is read", () -> {
      final var found = client.newProcessInstanceSearchRequest().filter(f -> f.tags("java"))
          .sort(s -> s.businessId().asc()).page(p -> p.from(48).limit(10)).send().join();
      same(List.of("java-8", "java-9"), found.items().stream().map(ProcessInstance::getBusinessId).toList());
    });
  }

  private SearchResponse<ProcessInstance> page(final String after, final String before) {
    return client.newProcessInstanceSearchRequest().filter(f -> f.tags("java"))
        .sort(s -> s.startDate().desc().processInstanceKey().desc())
        .page(p -> {
          p.limit(12);
          if (after != null) {
            p.after(after);
          }
          if (before != null) {
            p.before(before);
          }
        }).send().join();
  }

  private void others() {
    final long declined = orders.keys.get(10);
    checks.check("jobs are found by type, state, retries and kind", () -> {
      final var found = client.newJobSearchRequest().filter(f -> f.type(t -> t.in("charge-card", "other"))
          .state(s -> s.in(JobState.FAILED)).retries(r -> r.lt(1)).kind(JobKind.BPMN_ELEMENT)
          .worker("java-charge-card").errorMessage(m -> m.like("card*")).endTime(t -> t.exists(false))).send().join();
      same((long) OPEN, found.page().totalItems());
    });
    checks.check("jobs are found by their instance, latest first", () -> {
      final var found = client.newJobSearchRequest().filter(f -> f.processInstanceKey(declined))
          .sort(s -> s.jobKey().desc()).send().join();
      same(List.of("charge-card", "check-stock"), found.items().stream().map(job -> job.getType()).toList());
    });
    checks.check("incidents are found by state, type, date and instance", () -> {
      final var found = client.newIncidentSearchRequest().filter(f -> f.state(s -> s.in(IncidentState.ACTIVE))
          .errorType(t -> t.neq(IncidentErrorType.IO_MAPPING_ERROR)).creationTime(d -> d.gt(orders.begin))
          .processInstanceKey(k -> k.in(orders.keys)).elementId("charge-card"))
          .sort(s -> s.creationTime().desc()).page(p -> p.limit(3)).send().join();
      same((long) OPEN, found.page().totalItems());
      same(3, found.items().size());
      same(IncidentErrorType.JOB_NO_RETRIES, found.items().get(0).getErrorType());
    });
    checks.check("incidents are found below their instance", () -> {
      final var found = client.newIncidentsByProcessInstanceSearchRequest(declined).send().join();
      same("card declined", found.items().get(0).getErrorMessage());
    });
    checks.check("variables are found by name, value and instance", () -> {
      final var found = client.newVariableSearchRequest().withFullValues().filter(f -> f.name(n -> n.like("num*"))
          .value(v -> v.in("10", "11")).processInstanceKey(k -> k.in(orders.keys))).send().join();
      same(2L, found.page().totalItems());
      same(false, found.items().get(0).isTruncated());
    });
    checks.check("process definitions are found by name and version", () -> {
      final var found = client.newProcessDefinitionSearchRequest().filter(f -> f.isLatestVersion(true)
          .name(n -> n.like("Order*")).version(1).processDefinitionId(Orders.PROCESS).hasStartForm(false)).send().join();
      same(List.of(orders.definitionKey()),
          found.items().stream().map(item -> item.getProcessDefinitionKey()).toList());
    });
    checks.check("element instances are found by type, state and instance", () -> {
      final var found = client.newElementInstanceSearchRequest().filter(f -> f.processInstanceKey(declined)
          .type(ElementInstanceType.SERVICE_TASK).state(s -> s.in(ElementInstanceState.COMPLETED))
          .startDate(d -> d.gt(orders.begin))).send().join();
      same(List.of("check-stock"), found.items().stream().map(item -> item.getElementId()).toList());
    });
    checks.check("every tenth order is found by each of its number's digits", () ->
        IntStream.range(1, Orders.DECLINED).forEach(tens ->
            same(1L, client.newProcessInstanceSearchRequest().filter(f -> f.hasIncident(true)
                .variables(Map.of("number", tens * 10))).send().join().page().totalItems())));
  }
}
