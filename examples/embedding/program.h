// A program of clopt on an OpenCL device, made of its description and its weights.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include "json.h"

#include <CL/cl.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

template <typename Handle, cl_int (*release)(Handle)> struct Releaser {
    void operator()(Handle handle) const { release(handle); }
};
template <typename Handle, cl_int (*release)(Handle)>
using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, Releaser<Handle, release>>;

using Buffer = Owner<cl_mem, clReleaseMemObject>;
using Kernel = Owner<cl_kernel, clReleaseKernel>;
using BuiltProgram = Owner<cl_program, clReleaseProgram>;

// Throws an exception that names the call, unless it succeeded.
void check(cl_int status, const std::string &call);

// The bytes of a file.
std::string read_file(const std::string &path);

struct Port {
    std::string name;
    std::string type;
    std::vector<std::size_t> shape;
    std::size_t bytes;
};

// Building, uploading and setting arguments happen in the constructor. An inference is then a
// series of enqueues on the application's in-order queue, and nothing waits.
class Program {
  public:
    // `weights` is the path of a safetensors file. `buffers` are the application's, by the names of inputs and outputs. It keeps them alive.
    Program(const Json &description, const std::string &weights, cl_context context,
            cl_device_id device, const std::map<std::string, cl_mem> &buffers);

    void enqueue(cl_command_queue queue) const;

    // The inputs or outputs that a description lists.
    static std::vector<Port> ports(const Json &description, const std::string &which);

  private:
    struct Place {
        cl_mem memory;
        std::size_t offset;
        std::size_t bytes;
    };
    struct Command {
        Kernel kernel; // null for a copy
        std::vector<std::size_t> global_size, local_size;
        Place source, destination;
    };

    void make_memories(const Json &description, const std::string &weights,
                       const std::map<std::string, cl_mem> &buffers);
    void build(const Json &description);
    Command launch(const Json &description, const Json &command);
    Command copy(const Json &description, const Json &command) const;
    Place place(const Json &value) const;
    cl_mem argument(const Json &value);

    cl_context context;
    cl_device_id device;
    BuiltProgram program;
    std::vector<Buffer> owned;
    std::vector<cl_mem> memories;
    std::map<std::pair<cl_mem, std::size_t>, Buffer> parts;
    std::vector<Command> commands;
};
