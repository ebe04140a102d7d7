"""AgentAdmin: LLM agents whose state is durable, and a browser to administer them."""
