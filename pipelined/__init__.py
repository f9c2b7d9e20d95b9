"""Pipeline-parallel versions of transformers models.

This is the public face: what is exported here is what users may import, and it is empty until the first part lands.
It will hold `register`, `to_pipelined`, `PipelineMixin`, `IPUConfig` and their like.
"""

__all__: list[str] = []
