package gnomon;

import io.camunda.client.CamundaClient;
import io.camunda.client.CredentialsProvider;
import java.net.URI;
import java.nio.file.Path;

/**
 * Works with a Gnomon server as users of Camunda's Java client do.
 *
 * <p>Arguments: the server's address, its token endpoint, the folder of the examples, and a folder for the token cache.
 */
public final class Main {
  private Main() {}

  public static void main(final String[] arguments) {
    final URI address = URI.create(arguments[0]);
    final Path examples = Path.of(arguments[2]);
    final CredentialsProvider credentials =
        CredentialsProvider.newCredentialsProviderBuilder()
            .authorizationServerUrl(arguments[1])
            .audience("gnomon")
            .clientId("demo")
            .clientSecret("demo-secret")
            .credentialsCachePath(Path.of(arguments[3], "credentials").toString())
            .build();
    final Checks checks = new Checks();
    try (CamundaClient client =
        CamundaClient.newClientBuilder()
            .restAddress(address)
            .preferRestOverGrpc(true)
            .credentialsProvider(credentials)
            .build()) {
      final Orders orders = new Orders(client, checks, examples);
      orders.run();
      new Searches(client, checks, orders).run();
      new Commands(client, checks, orders, examples).run();
      new Decisions(client, checks, examples).run();
      new Approvals(client, checks).run();
    }
  }
}
