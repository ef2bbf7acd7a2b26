// SPDX-License-Identifier: GPL-2.0-or-later
//
// ring: threads in a ring pass messages over TCP on loopback between compute steps.
//
// usage: ring [nodes [rounds [messages [work]]]]
//
// In every round each node computes one word (`work` steps of a generator). Then the words
// travel once around the ring, in `messages` small messages per hop, and every node adds up the
// words of all: an all-reduce. All nodes must get the same sum. If a sum differs from the
// others, the program ends with status 1.
#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

struct Settings {
	unsigned nodes = 4;
	unsigned rounds = 40;
	unsigned messages = 50;
	unsigned work = 10000000;
};

// A message: as small as those of a fine-grained solver.
struct Message {
	std::uint64_t round;
	std::uint64_t number;
	std::uint64_t word;
};

[[noreturn]] void fail(const std::string &what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

// A connected TCP socket that sends at once. The destructor closes it.
class Connection
{
      public:
	explicit Connection(int descriptor) : descriptor_(descriptor)
	{
		const int on = 1;

		if (descriptor_ < 0)
			fail("connection");
		if (setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
			fail("TCP_NODELAY");
	}
	Connection(Connection &&other) noexcept : descriptor_(other.descriptor_)
	{
		other.descriptor_ = -1;
	}
	Connection(const Connection &) = delete;
	Connection &operator=(const Connection &) = delete;
	Connection &operator=(Connection &&) = delete;
	~Connection()
	{
		if (descriptor_ >= 0)
			close(descriptor_);
	}

	void send_message(const Message &message) const
	{
		const char *next = reinterpret_cast<const char *>(&message);
		std::size_t left = sizeof(message);

		while (left > 0) {
			const ssize_t sent = send(descriptor_, next, left, MSG_NOSIGNAL);

			if (sent < 0)
				fail("send");
			next += sent;
			left -= static_cast<std::size_t>(sent);
		}
	}

	Message receive_message() const
	{
		Message message;

		if (recv(descriptor_, &message, sizeof(message), MSG_WAITALL) !=
		    static_cast<ssize_t>(sizeof(message)))
			fail("recv");
		return message;
	}

      private:
	int descriptor_;
};

// A node's connections: to the next node, and from the previous one.
struct Node {
	Connection next;
	Connection previous;
};

int loopback_listener(sockaddr_in &address)
{
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(address);

	address = {};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listener < 0 || bind(listener, reinterpret_cast<sockaddr *>(&address), length) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length) < 0)
		fail("listening on loopback");
	return listener;
}

// Makes the connections one after the other, so that no pairing of nodes depends on timing.
std::vector<Node> connected_ring(unsigned nodes)
{
	std::vector<Connection> outgoing;
	std::vector<Connection> incoming;
	std::vector<Node> ring;

	for (unsigned node = 0; node < nodes; node++) {
		sockaddr_in address;
		const int listener = loopback_listener(address);
		const int socket_out = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(socket_out, reinterpret_cast<sockaddr *>(&address), sizeof(address)) <
		    0)
			fail("connect");
		outgoing.emplace_back(socket_out);
		incoming.emplace_back(accept(listener, nullptr, nullptr));
		close(listener);
	}
	for (unsigned node = 0; node < nodes; node++)
		ring.push_back(
		    {std::move(outgoing[node]), std::move(incoming[(node + nodes - 1) % nodes])});
	return ring;
}

// Knuth's MMIX generator, started from node and round.
std::uint64_t computed_word(unsigned node, unsigned round, unsigned work)
{
	std::uint64_t state = (static_cast<std::uint64_t>(node) << 32) | round;

	for (unsigned step = 0; step < work; step++)
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state;
}

// Passes one word to the next node in `messages` pieces and receives the previous node's.
std::uint64_t exchanged_word(const Node &node, std::uint64_t word, unsigned round,
			     unsigned messages)
{
	std::uint64_t received = 0;

	for (unsigned number = 0; number < messages; number++) {
		node.next.send_message(
		    {round, number, word / messages + (number < word % messages)});
		const Message message = node.previous.receive_message();

		if (message.round != round || message.number != number)
			throw std::runtime_error("a message came out of order");
		received += message.word;
	}
	return received;
}

std::uint64_t sum_of_all_rounds(const Node &node, unsigned index, const Settings &settings)
{
	std::uint64_t sum = 0;

	for (unsigned round = 0; round < settings.rounds; round++) {
		std::uint64_t word = computed_word(index, round, settings.work);

		sum += word;
		for (unsigned hop = 1; hop < settings.nodes; hop++) {
			word = exchanged_word(node, word, round, settings.messages);
			sum += word;
		}
	}
	return sum;
}

unsigned positive_number(const char *text)
{
	char *end;

	errno = 0;
	const long number = std::strtol(text, &end, 10);
	if (errno || *end || end == text || number < 1 || number > 1000000000)
		throw std::runtime_error("a positive whole number is wanted, not '" +
					 std::string(text) + "'");
	return static_cast<unsigned>(number);
}

Settings settings_from_arguments(int argc, char **argv)
{
	Settings settings;
	unsigned *const fields[] = {&settings.nodes, &settings.rounds, &settings.messages,
				    &settings.work};

	for (int argument = 1; argument < argc && argument <= 4; argument++)
		*fields[argument - 1] = positive_number(argv[argument]);
	return settings;
}

int run(const Settings &settings)
{
	const std::vector<Node> ring = connected_ring(settings.nodes);
	std::vector<std::uint64_t> sums(settings.nodes);
	std::vector<std::thread> threads;
	bool agreed = true;

	for (unsigned node = 0; node < settings.nodes; node++)
		threads.emplace_back([&, node] {
			// The neighbours of a failed node would wait for ever, so all must end.
			try {
				sums[node] = sum_of_all_rounds(ring[node], node, settings);
			} catch (const std::exception &error) {
				std::fprintf(stderr, "ring: node %u: %s\n", node, error.what());
				std::_Exit(EXIT_FAILURE);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	for (unsigned node = 0; node < settings.nodes; node++) {
		std::printf("node %u sum %016llx\n", node,
			    static_cast<unsigned long long>(sums[node]));
		agreed = agreed && sums[node] == sums[0];
	}
	return agreed ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return run(settings_from_arguments(argc, argv));
	} catch (const std::exception &error) {
		std::fprintf(stderr, "ring: %s\n", error.what());
		return EXIT_FAILURE;
	}
}
