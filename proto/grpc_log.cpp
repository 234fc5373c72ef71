#include "proto/grpc_log.h"

#include <grpc/support/log.h>

namespace onrush {

void silence_grpc_log() noexcept {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace onrush
